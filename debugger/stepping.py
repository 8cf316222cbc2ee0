"""Counted steps: instructions of cores and units, or pieces of work.

A piece is work that is longer than an instruction: an exe command of the array, a chain, a block of
an island, or a transfer. The core's table says what its pieces are (`Core.piece`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from macaw.debugger.event_fields import inside, place_of, reaches
from macaw.debugger.history import START, Position
from macaw.debugger.locations import Target, holds_code
from macaw.debugger.places import Place
from macaw.debugger.reverse import announcement_positions
from macaw.debugger.runner import Runner, width
from macaw.debugger.stops import ARRIVED, Hit, SessionError
from macaw.emu.breaks import Breakable

if TYPE_CHECKING:
    from macaw.debugger.breakpoints import Test
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.stop_positions import StopPositions
    from macaw.debugger.watch_set import Announcement
    from macaw.emu.core import Core, Event
    from macaw.emu.faults import Stop

INSTRUCTION = "instruction"  # instructions, counted by the announcement of their start
PIECE = ""  # pieces, counted by the announcement of their end, which the core's table names


def cores_to_step(debuggee: Debuggee, only: bool, every: bool) -> Sequence[Core]:
    """Return the focused cores; if `only`, just the first one; if `every`, all cores that run."""
    device = debuggee.device
    if every:
        return [core for core in device.order if core.running]
    names = dict.fromkeys(place.core for place in debuggee.focus)
    cores = [device.cores[name] for name in names]
    return cores[:1] if only else cores


def piece_places(debuggee: Debuggee) -> list[Place]:
    """Return the focused places whose cores work on pieces, such as transfers or chains.

    If there are no such places, return all cores that work on pieces.
    """
    device = debuggee.device
    where = [x for x in debuggee.focus if device.cores[x.core].table.piece]
    return where or [Place(core.name) for core in device.order if core.table.piece]


def step_cores(runner: Runner, cores: Sequence[Core], count: int) -> tuple[Stop, int]:
    """Run until each of `cores` that is running has executed `count` instructions.

    Return the stop and the number of steps done. For a core with several units, one act (an
    instruction or a cycle) is one step. A core without a program counts as running, because other
    cores may give it work. Raises `SessionError` if no core in `cores` is running.
    """
    debuggee = runner.debuggee
    if debuggee.device.stopped is not None:
        return debuggee.device.stopped, 0
    # A core to which others give work may wait for it; a core with a program must run.
    ready = [core.name for core in cores if core.running or not core.table.executable]
    if not ready:
        names = ", ".join(core.name for core in cores)
        raise SessionError(f"{names}: nothing runs there to be stepped")
    once = 1 if any(width(debuggee.device.cores[name]) > 1 for name in ready) else count
    for done in range(0, count, once):
        goals = {name: debuggee.device.cores[name].retired + once for name in ready}
        for name, goal in goals.items():
            core = debuggee.device.cores[name]
            if core.retired >= goal or (name != ready[0] and not core.running):
                continue
            raw = runner.live(partial(runner.step, name, goal - core.retired))
            if raw.reason != "step":
                core = debuggee.device.cores[name]
                return raw, done + once - max(0, goal - core.retired)
    return raw, count


def step_announcements(
    runner: Runner, where: Sequence[Place], kind: str, count: int
) -> tuple[Stop, int]:
    """Run until there were `count` acts of the places `where` with an announcement of a kind.

    `kind` is INSTRUCTION (an instruction has begun) or PIECE (a piece of work has ended, such as a
    transfer). Return the stop and the number of these acts.
    """
    left, last = count, START
    cores = {place.core for place in where}
    debuggee = runner.debuggee

    def test(item: Announcement) -> Hit | None:
        nonlocal left, last
        announcement, name, values = item
        core = debuggee.device.cores[name]
        if name not in cores or not _counts(core, announcement, values, where, kind):
            return None
        if debuggee.device.position == last:
            return None  # several announcements in one act count as one step, forward and back
        left, last = left - 1, debuggee.device.position
        by = str(place_of(core, values))
        return Hit(0, "step", announcement, by=by, values=values) if left == 0 else None

    raw = runner.live(runner.forward, listen=cores, step_test=test)
    return raw, count - left


def step_announcements_back(
    runner: Runner, stops: StopPositions, where: Sequence[Place], kind: str, count: int
) -> tuple[Position, list[Position]]:
    """Return the position to which a step back over `count` acts goes, and the ends of these acts.

    The acts are those that `step_announcements` counts, except an act that ends exactly at the
    present position. The step goes back to the end of the `count`-th last act. But an earlier run
    or step may have stopped after this end and before the end of the next act. Then the step goes
    to the last such stop (`StopPositions`). If there are fewer than `count` acts, it goes to the
    last stop before the end of the first act or, without such a stop, to the start of the run.

    The second result has the positions at which the last `count` acts end. Afterwards the device is
    at some position before the present. Raises `Interruption`.
    """
    now, cores = runner.debuggee.device.position, {place.core for place in where}

    def matches(event: Event) -> bool:
        return _counts(event.core, event.kind, dict(event.values), where, kind)

    positions = announcement_positions(runner, cores, matches, count)
    if len(positions) < count:
        return stops.last(START, (positions or [now])[0]), positions
    ends = [*positions[1:], now]
    at = len(positions) - count
    return stops.last(positions[at], ends[at]), positions[at:]


def _counts(
    core: Core, announcement: str, values: dict[str, Any], where: Sequence[Place], kind: str
) -> bool:
    """Return whether an announcement has the kind `kind` and is from one of the places `where`.

    `announcement` and `values` are the kind and the fields of the announcement of `core`.
    """
    if announcement != (kind or core.table.piece):
        return False
    place = place_of(core, values)
    return any(
        # If other units of the core still work on a piece, it has ended only for a focused unit.
        inside(place, [x]) and (kind or x.units or not values.get("left"))
        for x in where
    )


def run_to(runner: Runner, goals: Sequence[Target]) -> Stop:
    """Run until a core is at one of `goals`, or until the run stops otherwise; return the stop.

    A `Breakable` core stops before the instruction at the goal. Any other core stops after the act
    in which it begins this instruction. If places of this other core are focused, only acts of
    these places count.
    """
    debuggee = runner.debuggee
    before: dict[str, dict[int, Test]] = {}
    after = [target for target in goals if not isinstance(target.core, Breakable)]
    for target in goals:
        if isinstance(target.core, Breakable):
            test = partial(holds_code, debuggee, target)
            before.setdefault(target.core.name, {})[target.address] = test

    def step_test(item: Announcement) -> Hit | None:
        announcement, name, values = item
        core = debuggee.device.cores[name]
        place = place_of(core, values)
        where = [x for x in debuggee.focus if x.core == name] or [place]
        if announcement not in core.table.begins or not any(
            reaches(core, values, one) for one in where
        ):
            return None
        here = (x for x in after if x.core.name == name and x.address == values["address"])
        if any(holds_code(debuggee, target) for target in here):
            return Hit(0, ARRIVED, announcement, by=str(place), values=values)
        return None

    names = {target.core.name for target in after}
    return runner.live(runner.forward, names, step_test if after else None, before)
