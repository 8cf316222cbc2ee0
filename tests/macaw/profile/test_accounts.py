"""Accounts of profiles: sums of causes and lines, names of awaited cores, and all outputs."""

from __future__ import annotations

import json

import numpy as np
import pytest

import macaw
from macaw.asm.source import Source
from macaw.execution import configuration_of
from macaw.isa.causes import BY_NAME
from macaw.profiling import accounting, html
from macaw.profiling.account import Account, CauseCycles
from macaw.profiling.account_report import tree_lines
from macaw.profiling.model import from_json, to_json
from macaw.profiling.profiler import ProfileOptions, profile
from macaw.profiling.recording import ProfileError, make_job
from tests.macaw.profile.printed import printed
from tests.macaw.profile.programs import vector_loop

TURNS = 50
ZEROS = np.zeros(1024, np.int8)


@pytest.fixture(scope="module")
def report() -> macaw.Profile:
    program = vector_loop(TURNS, "waits.s")
    return profile(program, {"x": ZEROS}, ProfileOptions(causes=True))


def account_of(report: macaw.Profile, core: str) -> Account:
    return next(account for account in report.accounts if account.core == core)


def leaves(causes: tuple[CauseCycles, ...]) -> dict[str, CauseCycles]:
    """The leaves of a tree by name, after a check that each node is the sum of those below it."""
    found: dict[str, CauseCycles] = {}
    for cause in causes:
        if cause.below:
            assert cause.cycles == sum(item.cycles for item in cause.below)
            assert {BY_NAME[item.name].parent for item in cause.below} == {cause.name}
            found |= leaves(cause.below)
        else:
            found[cause.name] = cause
    return found


@pytest.mark.once
def test_causes_and_lines_add_up(report: macaw.Profile) -> None:
    assert [account.core for account in report.accounts][:3] == ["cp", "dma", "vc"]
    for account in report.accounts:
        assert account.cycles == report.cycles
        assert sum(cause.cycles for cause in account.causes) == account.total
        assert sum(line.cycles for line in account.lines) == account.total
        by_line: dict[str, int] = {}
        for line in account.lines:
            assert sum(line.causes.values()) == line.cycles
            for name, cycles in line.causes.items():
                by_line[name] = by_line.get(name, 0) + cycles
        assert by_line == {name: leaf.cycles for name, leaf in leaves(account.causes).items()}


@pytest.mark.once
def test_lines_add_up_to_the_run(report: macaw.Profile) -> None:
    lines = [(account.core, line) for account in report.accounts for line in account.lines]
    assert sum(line.run for _, line in lines) == report.cycles
    # cp starts vc and waits: while vc works, no cycle belongs to cp
    run = {core: sum(line.run for name, line in lines if name == core) for core in ("cp", "vc")}
    vc = account_of(report, "vc")
    assert run["vc"] == vc.total - vc.idle
    assert run["cp"] == report.cycles - run["vc"]
    for core, line in lines:
        if core == "vc" and line.number:
            assert (line.file, line.run) == ("waits.s", line.cycles)
            assert line.place == f"waits.s:{line.number}"


@pytest.mark.once
def test_by_hand(report: macaw.Profile) -> None:
    vc = leaves(account_of(report, "vc").causes)
    # 16 lanes of one byte, 128 bytes apart: all in one bank, so 15 cycles after the first
    assert vc["lanes"].cycles == TURNS * 15
    assert dict(vc["lanes"].lines) == {"waits.s:12": TURNS * 15}
    assert vc["branches"].cycles == TURNS - 1  # branch_taken_cycles is 2
    # latency 20 and one beat: ready 21 cycles after the issue, the next could issue after 1
    assert dict(vc["loads"].whom) == {"waits.s:10": TURNS * 20}
    cp = leaves(account_of(report, "cp").causes)
    assert dict(cp["cores"].whom) == {"vc": cp["cores"].cycles}


@pytest.mark.once
def test_lines_have_their_causes(report: macaw.Profile) -> None:
    lines = {line.place: line for line in account_of(report, "vc").lines}
    assert lines["waits.s:12"].causes == {"lanes": TURNS * 15, "work": TURNS}
    assert lines["waits.s:11"].whom == {"waits.s:10": TURNS * 20}
    assert lines[""].causes.keys() == {"before", "tail"}


@pytest.mark.once
def test_cores_without_work_are_idle(report: macaw.Profile) -> None:
    for account in report.accounts:
        assert (account.idle == account.total) == (account.core not in ("cp", "vc"))


def test_without_the_option_there_is_no_account() -> None:
    program = vector_loop(1, "waits.s")
    assert profile(program, {"x": ZEROS}).accounts == ()


@pytest.mark.once
@pytest.mark.parametrize("width", [80, 200])
def test_the_report_fits(report: macaw.Profile, width: int) -> None:
    text = printed(report, width).partition("\ncauses\n")[2].partition("\n\n")[0]
    assert max(map(len, text.splitlines())) <= width
    assert "at waits.s:12 (750)" in text
    assert "for waits.s:10 (1,000)" in text
    assert text.splitlines()[-1] == "  without work: dma, nnp, fim[0], fim[1], pe[0], pe[1]"


@pytest.mark.once
def test_places_that_do_not_fit_are_left_out(report: macaw.Profile) -> None:
    wide, narrow = (list(tree_lines(report.accounts, width)) for width in (200, 40))
    assert len(wide) == len(narrow)
    assert max(map(len, narrow[:-1])) <= 40
    assert any("waits.s:12 (750)" in line for line in wide)
    assert not any("waits.s:1 " in line or line.endswith("waits.s:1") for line in narrow)


@pytest.mark.once
def test_json_and_page(report: macaw.Profile) -> None:
    again = from_json(json.loads(json.dumps(to_json(report))))
    assert again == report
    assert '"vc",0,"cycles"' in html.page(report)
    assert '"lanes",750' in html.page(report)


@pytest.mark.once
def test_a_program_that_does_not_end() -> None:
    program = macaw.assemble(Source(".device tiny\n.core cp\n1: j 1b\n", "ever.s"))
    job = make_job(program, configuration_of(program, None), {}, 100)
    with pytest.raises(ProfileError, match="the program does not end by itself: cycle limit"):
        accounting.charge_job(job)
