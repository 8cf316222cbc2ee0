"""Reports by instruction and reports by tally give the trace block the same records."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.tallies import INDEX, Tally
from macaw.emu.trace import TraceBlock
from macaw.isa.trace import RECORDING
from tests.emu.trace_machine import OCCURRENCE_NAMES, WINDOW_PARAMETERS, TraceMachine

pytestmark = pytest.mark.once

Use = tuple[str, int, int, int]
Done = tuple[int, int, list[Use]]  # its start, its end, what it uses


@st.composite
def programs(draw: st.DrawFn) -> tuple[int, list[Done]]:
    """The first cycle of the timer, and instructions one after another from then on."""
    origin = time = draw(st.sampled_from([0, 0, 1000]))
    done = []
    for _ in range(draw(st.integers(0, 30))):
        begin = time + draw(st.integers(0, 2))
        time = begin + draw(st.integers(1, 9))
        kinds = draw(st.lists(st.sampled_from(OCCURRENCE_NAMES), max_size=3, unique=True))
        counts = st.integers(1, 5)
        done.append((begin, time, [(kind, begin, time, draw(counts)) for kind in kinds]))
    return origin, done


def one_by_one(block: TraceBlock, done: list[Done], looks: set[int]) -> None:
    for number, (begin, end, uses) in enumerate(done):
        assert block.begin(begin) == number
        if number in looks:
            block.sync()
        for what, first, last, count in uses:
            block.count_occurrence(what, first, last, count)
        block.end(end, number)


def as_wholes(block: TraceBlock, done: list[Done], looks: set[int]) -> None:
    for number, (begin, end, uses) in enumerate(done):
        if number in looks:
            block.sync()
        block.report(number, uses, end, begin)


def by_tally(block: TraceBlock, done: list[Done], looks: set[int]) -> None:
    """Report by tally up to each border; read registers before or during instructions `looks`."""
    tally = Tally()
    for number, (begin, end, uses) in enumerate(done):
        if number >= block.open_at:
            block.absorb(tally, number)
            block.open(number)
            if number in looks:
                assert (block.read("trace_status") & RECORDING) == any(block.recordings)
        if not block.on:
            continue
        if number in looks and number % 2:
            block.absorb(tally, number)
            block.sync()
        tally.begin_instruction(begin)
        if number in looks and not number % 2:
            block.absorb(tally, number + 1, 1)
        for what, first, last, count in uses:
            tally.count_occurrence(INDEX[what], first, last, count)
        tally.end_instruction(end)
        if number + 1 >= block.close_at:
            block.absorb(tally, number + 1)
            block.close(number + 1)
    if block.on:
        block.absorb(tally, len(done))
    block.executed = len(done)  # nothing was told while nothing could be recorded


@pytest.mark.parametrize("tell", [as_wholes, by_tally])
@settings(max_examples=100, deadline=None)
@given(WINDOW_PARAMETERS, programs(), st.sets(st.integers(0, 30)), st.integers(2, 12))
def test_however_it_is_told(
    tell: Callable[[TraceBlock, list[Done], set[int]], None],
    parameters: dict[str, int],
    program: tuple[int, list[Done]],
    looks: set[int],
    room: int,
) -> None:
    origin, done = program
    machines = [TraceMachine().auto(room, **parameters) for _ in range(2)]
    for machine, way in zip(machines, (one_by_one, tell), strict=True):
        machine.block.start(origin)
        way(machine.block, done, looks)
        machine.block.sync()
    one, other = machines
    assert one.spilled == other.spilled
    assert one.block.state.hash() == other.block.state.hash()
