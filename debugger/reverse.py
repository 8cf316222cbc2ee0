"""Finds positions in the past: of earlier instructions of a core, and of hits of points.

Each function restores a checkpoint and runs forward from there. It repeats this from earlier and
earlier checkpoints until it has found enough. Afterwards the device is at some position before the
present, from which the caller must move it.
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
    """Raised if the user interrupts a search in the past.

    The device stays at the position that the search has reached.
    """

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


class InstructionEnd(NamedTuple):
    """The moment when a core has completed an instruction.

    `retired` is the number of instructions that the core has completed. `address` is the address of
    the core's next instruction. If the core is idle at this moment, `address` is the address at
    which the core will start next.
    """

    position: Position
    retired: int
    address: int | None


class PastHit(NamedTuple):
    """Hits of points at one position of the past.

    `core` is the name of the core that stops there; `address` is the address of the instruction
    before which the core stops.
    """

    position: Position
    hits: tuple[Hit, ...]
    core: str
    address: int | None


def instruction_ends(
    runner: Runner, name: str, count: int, end: Position, retired: int
) -> list[InstructionEnd]:
    """Return the ends of a core's last `count` or more instructions before `end`.

    An end is the moment when the core has completed an instruction. The earliest is the first one
    in the list. `name` is the name of the core, `retired` the number of instructions that the core
    had executed at `end`. For a core that executes at most one instruction in a cycle, the list may
    lack the end of the very last instruction, which callers do not need. If the run has fewer
    instructions than `count`, the first item is the start of the run. Raises `Interruption`.
    """
    ends: list[InstructionEnd] = []
    while True:
        # No run repeats an edit. So the search stops at an edit, and continues in the time before
        # it.
        floor = runner.history.floor(end)
        ends = [*_ends_from(runner, name, count - len(ends), floor, end, retired), *ends]
        if len(ends) >= count or ends[0].position == START:
            return ends
        end, retired = ends[0].position, ends[0].retired


def _ends_from(
    runner: Runner, name: str, count: int, floor: Checkpoint, end: Position, retired: int
) -> list[InstructionEnd]:
    """Return the ends of a core's last instructions before `end`, found by a replay.

    The result has `count` or more ends, the earliest first, but none before the checkpoint `floor`:
    if fewer instructions ended since then, the result begins at `floor`. The other parameters are
    those of `instruction_ends`. The caller ensures that there are no edits after `floor`.
    """
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
        # A core with one unit ends its instructions one by one, so the caller does not need the
        # last end.
        last = retired - 1 if width(core) == 1 else retired
        while core.retired < last or (core.retired < retired and ends[-1].address is None):
            stop, address = _step(runner, core, end)
            _check(stop)
            ends[-1] = ends[-1]._replace(address=address)
            if stop.reason != "step" or core.retired >= retired:
                break
            ends.append(InstructionEnd(device.position, core.retired, core.next_address))
    return ends


def _step(runner: Runner, core: Core, end: Position) -> tuple[Stop, int | None]:
    """Execute one more instruction of a core, or run to `end`.

    Return the stop, and the address of the instruction, or None if the core has begun no
    instruction.
    """
    device, address = runner.debuggee.device, core.next_address
    if address is not None:
        return runner.step(core.name, 1, end), address

    def after_act(_acting: Core | None) -> None:
        nonlocal address
        if address is None:
            address = core.next_address

    device.on_act = after_act
    try:
        stop = runner.step(core.name, 1, end)
    finally:
        device.on_act = None
    return stop, address


def _check(stop: Stop) -> None:
    if stop.reason == "interrupt":
        raise Interruption(stop)


def announcement_positions(
    runner: Runner, cores: set[str], matches: Matches, count: int
) -> list[Position]:
    """Return the positions at which the last matching acts of some cores have ended.

    An act matches if a core in `cores` makes an announcement during the act for which `matches`
    returns True. An act that ends exactly at the present position does not count. The positions
    are sorted, the earliest first. The result has all of them if the run has at most `count`;
    otherwise it has the last `count`, or some more. Raises `Interruption`.
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
    is_match = False  # whether an announcement of this act matches

    def hear(event: Event) -> None:
        nonlocal is_match
        is_match = is_match or matches(event)

    def after_act(core: Core | None) -> None:
        nonlocal is_match
        if is_match:
            # After the arbiter has acted, a run stops at the start of the next cycle.
            positions.append((device.cycle + 1, 0) if core is None else device.position)
        is_match = False

    device.listen(hear, cores)
    device.on_act = after_act
    try:
        with runner.replaying():
            _check(runner.forward(end))
    finally:
        device.on_act = None
        device.unlisten(hear)
    return positions


def last_hit(runner: Runner, now: Position, floor: Position) -> PastHit | None:
    """Return the last hits of points in the part of the run from `floor` to before `now`.

    The result is None if no point was hit in this part. Raises `Interruption`.
    """
    end, is_last = now, True
    while end >= floor:  # the act before a checkpoint at `floor` may have hits at `floor`
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
    """Return the last hits of points from a checkpoint to the position `end`, or None.

    If `is_last` is true, `end` is the end of the whole search, and hits at `end` do not count.
    """
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
            # another core stops at the same position
            if last is not None and last.position == here:
                hits = (*last.hits, *hits)
            last = PastHit(here, hits, stop.core, stop.address)
            if here == end:
                return last
