"""Which findings a run has, and what they save: runs and prices made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from macaw.emu.charges import Charge
from macaw.profiling import findings
from macaw.profiling.source_lines import NOWHERE
from tests.macaw.profile.charged_runs import (
    LINES,
    WORK,
    Steps,
    line,
    place_of,
    run_of,
    stall,
    summary,
)

pytestmark = pytest.mark.once


def test_lines_near_each_other_are_one_finding() -> None:
    spans = [(0, 50, WORK), (50, 60, stall(4)), (60, 90, stall(8)), (90, 105, stall(12))]
    run = run_of({"vc": [*spans, (105, 120, WORK)]}, LINES)
    assert summary(run) == [("vc", "results", "a.s:9", 40), ("vc", "results", "a.s:90", 15)]
    assert findings.find(run)[0].others == ("a.s:5: add",)
    assert findings.find(run)[0].cycles == 40


def test_what_saves_less_than_three_hundredths_is_no_finding() -> None:
    for cycles, wanted in ((29, []), (30, [("vc", "results", "a.s:5", 30)])):
        spans = [(0, 1000 - cycles, WORK), (1000 - cycles, 1000, stall(4))]
        assert summary(run_of({"vc": spans}, LINES)) == wanted


def test_what_saves_less_than_ten_cycles_is_no_finding() -> None:
    for cycles, wanted in ((9, []), (10, [("vc", "results", "a.s:5", 10)])):
        spans = [(0, 100 - cycles, WORK), (100 - cycles, 100, stall(4))]
        assert summary(run_of({"vc": spans}, LINES)) == wanted


def test_the_first_of_several_accesses_stays() -> None:
    for count, wanted in ((1, []), (2, [30]), (6, [150])):
        spans = [(k, k + 10, WORK) for k in range(0, 300, 10)]
        for k in range(count):
            spans += [(300 + 40 * k, 330 + 40 * k, stall(4, "latency"))]
            spans += [(330 + 40 * k, 340 + 40 * k, WORK)]
        assert [x.saved for x in findings.find(run_of({"cp": spans}, LINES))] == wanted


def test_what_comes_before_the_first_work_of_a_list_stays() -> None:
    spans = [(0, 40, stall(4, "packets")), (40, 50, WORK), (50, 70, stall(4, "packets"))]
    assert [x.saved for x in findings.find(run_of({"pe[0]": spans}, LINES))] == [20]


def test_imbalance_costs_what_another_order_of_the_rows_saves() -> None:
    """Imbalance costs the cycles that another order of the rows saves.

    Each of two steps takes as many cycles as the longest of its 4 PEs has entries: 8 + 8, or 8 + 2
    if the rows are sorted. The mean of each step is 5.
    """
    spans = [(0, 40, WORK), (40, 100, stall(4, "imbalance"))]
    uneven: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (0, 2, 0): [2, 8, 2, 8]}}
    run = run_of({"pe[0]": spans}, LINES, steps=uneven)
    assert [x.saved for x in findings.find(run)] == [60]
    # the same rows twice, as two steps that work on the same packet
    twice = {**uneven, 8: uneven[4]}
    assert [x.saved for x in findings.find(run_of({"pe[0]": spans}, LINES, steps=twice))] == [60]
    equal: Steps = {4: {(0, 1, 0): [8, 2, 2, 2]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=equal)) == []
    # the same rows, but in clusters that work at the same time, or in lists one after the other
    clusters: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (0, 1, 1): [2, 8, 2, 8]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=clusters)) == []
    lists: Steps = {4: {(0, 1, 0): [8, 8, 2, 2], (1, 2, 0): [2, 8, 2, 8]}}
    assert summary(run_of({"pe[0]": spans}, LINES, steps=lists)) == []


def test_a_transfer_cannot_end_earlier_than_if_the_dma_never_paused() -> None:
    """A finding about transfers counts only pauses of the dma.

    While cp waits for the second transfer, the dma works all the time, or has paused for 60 cycles.
    """
    for begin, wanted in ((50, []), (110, [60])):
        charges = {
            "cp": [
                (0, 10, WORK), (10, 50, Charge("transfers", 4, "dma")), (50, 110, WORK),
                (110, begin + 100, Charge("transfers", 4, "dma")), (begin + 100, 330, WORK),
            ],
            "dma": [(10, 50, WORK), (begin, begin + 100, WORK)],
        }  # fmt: skip
        assert [x.saved for x in findings.find(run_of(charges, LINES))] == wanted


def test_what_has_slack_is_no_finding() -> None:
    """A stall with slack is no finding.

    cp waits for nnp, which takes longer than vc with its stall.
    """
    waits = Charge("cores", 0, "vc, nnp")
    run = run_of(
        {
            "cp": [(0, 10, WORK), (10, 200, waits), (200, 210, WORK)],
            "vc": [(5, 20, WORK), (20, 120, stall(4))],
            "nnp": [(6, 195, WORK)],
        },
        LINES,
    )
    assert summary(run) == []


def test_the_same_of_several_cores_is_one_finding() -> None:
    """The same stall of two cores is one finding: removing it from one core alone saves nothing."""
    waits = Charge("cores", 0, "pe[0], pe[1]")
    of_row = [(5, 20, WORK), (20, 120, stall(4, "packets"))]
    run = run_of(
        {
            "cp": [(0, 10, WORK), (10, 120, waits), (120, 130, WORK)],
            "pe[0]": of_row,
            "pe[1]": of_row,
        },
        LINES,
    )
    assert summary(run) == [("pe", "packets", "a.s:5", 100)]


def test_a_producer_of_several_accesses_vanishes_with_all_of_them() -> None:
    """Work that makes values for narrow stores is removed in proportion to these stores.

    The stores make a third, two thirds and all of the accesses of the work.
    """
    stores = [Charge("narrow", 8, "", 4), Charge("narrow", 8, "", 4), Charge("narrow", 12, "", 4)]
    for count, wanted in ((1, 20), (2, 40), (3, 60)):
        spans = [(0, 40, WORK), (40, 70, Charge("work", 4))]
        spans += [(70 + 10 * n, 80 + 10 * n, stores[n]) for n in range(count)]
        along = {
            stores[n]: {Charge("work", 4): 10 * stores[:count].count(stores[n])}
            for n in range(count)
        }
        run = run_of({"vc": spans}, {**LINES, 12: line(10)}, along=along)
        assert summary(run) == [("vc", "narrow", "a.s:9", wanted)]


def test_rows_without_work_count_if_others_share_the_work() -> None:
    """Three rows, one or two without work: each of the others gives up what exceeds the mean.

    Of work that cannot be divided at all, there is nothing to give up.
    """
    waits = Charge("cores", 0, "pe[0], pe[1]")
    work = [(10, 310, WORK)]
    charges = {
        "cp": [(0, 10, WORK), (10, 310, waits), (310, 320, WORK)],
        "pe[0]": work,
        "pe[1]": work,
        "pe[2]": [],
    }
    alone = {**charges, "pe[1]": []}
    for of_cores, undivided, wanted in (
        (charges, 0.1, [100]),
        (charges, 0.75, [75]),
        (charges, 1.0, []),
        (alone, 0.1, [200]),
        (alone, 0.5, [150]),
        (alone, 1.0, []),
    ):
        run = replace(run_of(of_cores, LINES), undivided=dict.fromkeys(charges, undivided))
        assert [x.saved for x in findings.find(run) if x.cause == "imbalance"] == wanted


def test_a_row_with_equal_work_hides_no_other_row() -> None:
    """The cores of the first row have equal work. In the second row one core has all the work."""
    equal = [(0, 100, WORK)]
    of_cores = {"fim[0]": equal, "fim[1]": equal, "pe[0]": [(0, 300, WORK)], "pe[1]": []}
    run = run_of(of_cores, LINES)
    run = replace(
        run,
        mendable=dict.fromkeys(run.mendable, ("imbalance",)),
        undivided=dict.fromkeys(run.undivided, 0.1),
    )
    assert [(x.core, x.cause, x.saved) for x in findings.find(run)] == [("pe", "imbalance", 150)]


def test_lines_that_macaw_adds_are_no_finding() -> None:
    spans = [(0, 50, WORK), (50, 100, stall(4, "long"))]
    assert summary(run_of({"cp": spans}, {**LINES, 4: line(5, "<default cp>")})) == []
    assert summary(run_of({"cp": spans}, LINES)) == [("cp", "long", "a.s:5", 50)]
    # The line after it, of the user's file, is a finding all the same.
    both = [*spans, (100, 160, stall(8, "long"))]
    found = summary(run_of({"cp": both}, {**LINES, 4: line(5, "<default cp>")}))
    assert found == [("cp", "long", "a.s:9", 60)]


def test_work_and_causes_without_advice_are_no_finding() -> None:
    for core, cause in (("pe[0]", "handover"), ("pe[0]", "fill"), ("nnp", "results")):
        run = run_of({core: [(0, 50, WORK), (50, 100, stall(4, cause))]}, LINES)
        assert summary(run) == []
    assert summary(run_of({"fim[0]": [(0, 190, WORK)], "fim[1]": [(0, 30, WORK)]}, LINES)) == []


def test_what_the_work_takes_anyway_is_left_out() -> None:
    spans = [(0, 40, WORK), (40, 100, stall(4, "bus"))]
    for least, wanted in ((0, 60), (70, 30), (90, 10)):
        run = run_of({"pe[0]": spans}, LINES, {"bus": least})
        assert summary(run) == [("pe[0]", "bus", "a.s:5", wanted)]
    assert summary(run_of({"pe[0]": spans}, LINES, {"bus": 120})) == []


def test_findings_that_save_the_same_are_in_order_of_cycles_then_of_lines() -> None:
    """Of findings that save 30 cycles each, the one with most cycles is first, then the first line.

    Two accesses of 30 cycles have 60 cycles, but save 30. Two waits have 30 cycles each and save
    30.
    """
    access = [(30, stall(8, "latency")), (10, WORK), (30, stall(8, "latency")), (10, WORK)]
    waits = [(30, stall(12, "long")), (10, WORK), (30, stall(4, "branches")), (10, WORK)]
    for pieces in (access + waits, waits + access, waits[2:] + access + waits[:2]):
        spans, at = [(0, 300, WORK)], 300
        for length, charge in pieces:
            spans.append((at, at + length, charge))
            at += length
        found = findings.find(run_of({"cp": spans}, {**LINES, 12: line(7)}))
        assert [(x.saved, x.cycles, place_of(x.where)) for x in found] == [
            (30, 60, "a.s:9"), (30, 30, "a.s:5"), (30, 30, "a.s:7"),
        ]  # fmt: skip


def test_findings_that_save_the_same_are_in_order_of_numbers_of_lines() -> None:
    """Line 9 comes before line 10, and file a.s before b.s; sorted as text, line 10 would be first."""
    lines = {None: NOWHERE, 0: line(1), 4: line(10), 8: line(9), 12: line(2, "/x/b.s")}
    spans, at = [(0, 300, WORK)], 300
    for address, cause in ((12, "branches"), (4, "results"), (8, "lanes")):
        spans += [(at, at + 30, stall(address, cause)), (at + 30, at + 60, WORK)]
        at += 60
    found = findings.find(run_of({"vc": spans}, lines))
    assert [(x.saved, place_of(x.where)) for x in found] == [
        (30, "a.s:9"), (30, "a.s:10"), (30, "b.s:2")
    ]  # fmt: skip
