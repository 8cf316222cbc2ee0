"""The way back: to the instruction before, to the breakpoint or watch before.

Where a core was after each of its last instructions is found by running forward from a
checkpoint; a run back looks for the last hit between two checkpoints, from the last pair on.
After each call the device is somewhere before the present.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.history import START, Checkpoint, Position
from macaw.debugger.runner import BULK, Runner, width
from macaw.debugger.stops import Hit
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.emu.core import Core, Event

Matches = Callable[["Event"], bool]


class Interruption(Exception):
    """A stop was requested on the way back; the device is where it was then."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


class InstructionEnd(NamedTuple):
    """Where a core was right after an instruction, and what it was to execute next."""

    position: Position
    retired: int
    address: int | None


class PastHit(NamedTuple):
    """A stop of points on the way back, and the core that it stopped at an address."""

    position: Position
    hits: tuple[Hit, ...]
    core: str
    address: int | None


def instruction_ends(
    runner: Runner, name: str, count: int, end: Position, retired: int
) -> list[InstructionEnd]:
    """Where a core was after its instructions before `end`, but the very last, in their order.

    `retired` instructions were done at `end`. At least `count` of the ends, fewer only if there
    are no more; then the start of the run comes first. Raises `Interruption`.
    """
    ends: list[InstructionEnd] = []
    while True:
        # No run leads over an edit: what lies before one is looked at separately.
        floor = runner.history.floor(end)
        ends = [*_ends_from(runner, name, count - len(ends), floor, end, retired), *ends]
        if len(ends) >= count or ends[0].position == START:
            return ends
        end, retired = ends[0].position, ends[0].retired


def _ends_from(
    runner: Runner, name: str, count: int, floor: Checkpoint, end: Position, retired: int
) -> list[InstructionEnd]:
    """The same without edits between, from `floor` on at most."""
    point = runner.history.last(
        lambda item: item.position < end and item.retired[name] < retired - count
    )
    if point is None or point.position < floor.position:
        point = floor
    runner.rewind(point.position)
    device = runner.debuggee.device
    core = device.cores[name]
    with runner.replaying():
        early = retired - count - BULK
        if core.retired < early:
            _check(runner.step(name, early - core.retired, end))
            runner.checkpoint()
        ends = [InstructionEnd(device.position, core.retired, core.next_address)]
        # Where instructions end one by one, the last but one is known before the last.
        last = retired - 1 if width(core) == 1 else retired
        while core.retired < last:
            stop = runner.step(name, 1, end)
            _check(stop)
            if stop.reason != "step" or core.retired >= retired:
                break
            ends.append(InstructionEnd(device.position, core.retired, core.next_address))
    return ends


def _check(stop: Stop) -> None:
    if stop.reason == "interrupt":
        raise Interruption(stop)


def announcement_positions(
    runner: Runner, cores: set[str], matches: Matches, count: int
) -> list[Position]:
    """The last positions before the present after acts with announcements that match.

    At least `count`, fewer only if there are no more. Raises `Interruption`.
    """
    device = runner.debuggee.device
    now = end = device.position
    positions: list[Position] = []
    while len(positions) < count:
        point = runner.history.earlier(end)
        if point is None:
            break
        positions = [*_positions_from(runner, point, end, cores, matches), *positions]
        positions = [position for position in positions if position < now]
        end = point.position
        assert runner.debuggee.device is device
    return positions


def _positions_from(
    runner: Runner, point: Checkpoint, end: Position, cores: set[str], matches: Matches
) -> list[Position]:
    device = runner.debuggee.device
    runner.rewind(point.position)
    runner.monitor.disarm()
    positions: list[Position] = []
    is_match = False  # in this act

    def hear(event: Event) -> None:
        nonlocal is_match
        is_match = is_match or matches(event)

    def after_act(core: Core | None) -> None:
        nonlocal is_match
        if is_match:
            # After the arbiter a run stops at the start of the next cycle.
            positions.append((device.cycle + 1, 0) if core is None else device.position)
        is_match = False

    device.listen(hear, cores)
    device.acted = after_act
    try:
        with runner.replaying():
            _check(runner.forward(end))
    finally:
        device.acted = None
        device.unlisten(hear)
    return positions


def last_hit(runner: Runner, now: Position, floor: Position) -> PastHit | None:
    """The last stop of a point before `now`, and not before `floor`; None: there is none.

    Raises `Interruption`.
    """
    end, is_last = now, True
    while end >= floor:  # what a checkpoint at the floor was taken after lies before it
        point = runner.history.earlier(end)
        if point is None:
            return None
        hit = _last_hit_from(runner, point, end, is_last)
        if hit is not None:
            return hit if hit.position >= floor else None
        end, is_last = point.position, False
        if runner.on_progress is not None:
            runner.on_progress("going back", end[0])
    return None


def _last_hit_from(
    runner: Runner, point: Checkpoint, end: Position, is_last: bool
) -> PastHit | None:
    """The last hit from a checkpoint to a position; at that one only if `is_last` is not set."""
    runner.rewind(point.position)
    runner.choose_engine()
    device, monitor = runner.debuggee.device, runner.monitor
    last: PastHit | None = None
    with runner.replaying(), monitor.scanning():
        monitor.arm()
        while True:
            stop = runner.forward(end)
            _check(stop)
            hits = monitor.take_hits()
            here = device.position
            if not hits or here > end or (here == end and is_last):
                return last
            if last is not None and last.position == here:  # stops of two cores
                hits = (*last.hits, *hits)
            last = PastHit(here, hits, stop.core, stop.address)
            if here == end:
                return last
