"""The activities of units in `info groups` agree with counters, announcements and state."""

from __future__ import annotations

import re

import numpy as np
import pytest

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.places import places
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import session

pytestmark = pytest.mark.once


def asked(debug, text=""):
    """The title of `info groups`, and its rows with lists of their places."""
    answer = Interpreter(debug, DebuggerFiles()).execute(f"info groups {text}")
    assert answer.kind == "table", answer
    rows = []
    for count, at, state, symbol, source, which in answer.rows:
        found = places(debug.device, which)
        assert len(found) == count
        rows.append((at, state, symbol, source, {str(place) for place in found}))
    return answer.title, rows


def together(rows):
    """The set of all places; asserts that each is in one group only."""
    every = [place for *_, which in rows for place in which]
    assert len(every) == len(set(every))
    return set(every)


@pytest.fixture(scope="module")
def reference():
    return session("digits_mlp", "reference")


@pytest.mark.parametrize("cycle", [1400, 2372, 2984])
def test_pes_that_wait_are_those_whose_next_cycle_counts_as_done_early(reference, cycle):
    debug = reference
    debug.goto(cycle)
    title, rows = asked(debug, "pe[*,*].*")
    assert len(together(rows)) == 256
    waits = {
        p for at, state, *_, which in rows if state == "waits for the other PEs" for p in which
    }
    works = {p for at, state, *_, which in rows if (at, state) == ("mac", "runs") for p in which}
    before = [debug.device.cores[f"pe[{row}]"].state.cycles_early.copy() for row in range(4)]
    debug.stepc()
    debug.device.sync()
    early = set()
    for row in range(4):
        after = debug.device.cores[f"pe[{row}]"].state.cycles_early
        for cluster, pe in np.argwhere(after > before[row]).tolist():
            early.add(f"pe[{row},{cluster}].{pe}")
    assert waits == early
    assert works
    assert f"{len(works)}@mac" in title.split()


def test_both_engines_say_the_same(reference):
    fast = session("digits_mlp")
    for cycle, text in ((1350, "pe[*]"), (1400, "pe[1..2,*].*"), (1410, ""), (2450, "pe[0,3]")):
        fast.goto(cycle)
        reference.goto(cycle)
        assert asked(fast, text) == asked(reference, text)


def test_clusters_are_where_they_have_begun():
    debug = session("digits_mlp")
    debug.points.add("break", "digits_mlp.s:48")  # the third mac
    for _ in range(3):
        stop = debug.cont()
        begun = {hit.by for hit in stop.hits}
        _, rows = asked(debug, "pe[*]")
        assert len(together(rows)) == 16
        ((symbol, which),) = [
            (symbol, which)
            for at, state, symbol, source, which in rows
            if (at, state) == ("mac", "runs") and source.endswith("digits_mlp.s:48")
        ]
        assert begun <= which
        assert symbol == "products_even+32"


def test_banks_are_at_the_words_of_their_blocks():
    debug = session("fim_gru")
    island = debug.device.cores["fim[1]"]
    seen = set()
    for cycle in range(700, 2500, 100):
        debug.goto(cycle)
        _, rows = asked(debug, "fim[1]")
        assert len(together(rows)) == 4
        debug.device.sync()
        for _, banks, pc, _, running, *_ in island.state.blocks:
            mine = [row for row in rows if f"fim[1,{banks[0]}]" in row[-1]]
            ((at, state, symbol, _, which),) = mine
            assert {f"fim[1,{bank}]" for bank in banks} <= which
            if running:
                assert symbol == debug.where(island, pc).symbol
                assert (at, state) != ("idle", "idle")
                seen.add(state.split()[0])
            else:
                assert (at, state, symbol) == ("idle", "idle", None)
    assert seen == {"runs", "waits"}


def test_the_set_is_that_of_the_focus():
    debug = session("six_cores")
    debug.goto(900)
    cores = len(debug.device.order)
    wanted = {"cp": cores, "vc, nnp": 2, "pe[0]": 2, "pe[*]": 4, "pe[0,1]": 4, "pe[*,0].*": 8}
    for text, count in wanted.items():
        debug.set_focus(text)
        title, rows = asked(debug)
        assert len(together(rows)) == count
        assert re.fullmatch(r"(\d+@\S+ ?)+", title)
        assert sum(int(part.partition("@")[0]) for part in title.split()) == count


def test_titles_count_what_is_at_the_same_together():
    debug = session("digits_mlp")
    debug.goto(1350)
    title, rows = asked(debug, "pe[*,0..1]")
    assert title == "4@spu 3@st 1@ld(waits)"
    assert [len(which) for *_, which in rows] == [4, 2, 1, 1]
