"""The way back: to the instruction before, to the breakpoint or watch before.

Where a core was after each of its last instructions is found by running forward from a
checkpoint; a run back looks for the last hit between two checkpoints, from the last pair on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.history import START, Checkpoint, Position
from macaw.debugger.runner import BULK, width
from macaw.debugger.stops import Hit
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core, Event


class Interrupted(Exception):
    """Somebody has interrupted the way back; the device is where it was then."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop.message)
        self.stop = stop


class Landing(NamedTuple):
    """Where a core was right after an instruction, and what it was to do next."""

    position: Position
    retired: int
    address: int | None


class Found(NamedTuple):
    """A hit on the way back."""

    position: Position
    hits: tuple[Hit, ...]
    core: str
    address: int | None


def landings(session: Session, name: str, wanted: int, now: Position, done: int) -> list[Landing]:
    """Where a core was after its instructions before `now`, but the very last, in their order.

    `done` are those that it had done then. At least `wanted` of them, fewer only if there are no
    more (then the begin is the first). The device is somewhere before `now` afterwards. Raises
    `Interrupted`.
    """
    found: list[Landing] = []
    while True:
        # What was edited cannot be run up to: what lies before it is another piece.
        floor = session.history.floor(now)
        found = [*_piece(session, name, wanted - len(found), floor, now, done), *found]
        if len(found) >= wanted or found[0].position == START:
            return found
        now, done = found[0].position, found[0].retired


def _piece(
    session: Session, name: str, wanted: int, floor: Checkpoint, now: Position, done: int
) -> list[Landing]:
    """The same without edits between, from `floor` on at most."""
    device, runner = session.device, session.runner
    point = session.history.last(
        lambda item: item.position < now and item.retired[name] < done - wanted
    )
    if point is None or point.position < floor.position:
        point = floor
    runner.rewind(point.position)
    core = device.cores[name]
    with runner.replaying():
        few = done - wanted - BULK
        if core.retired < few:
            _check(runner.step(name, few - core.retired, now))
            runner.checkpoint()
        found = [Landing(device.position, core.retired, core.next_address)]
        # Where instructions end one by one, the last but one is known before the last.
        last = done - 1 if width(core) == 1 else done
        while core.retired < last:
            stop = runner.step(name, 1, now)
            _check(stop)
            if stop.reason != "step" or core.retired >= done:
                break
            found.append(Landing(device.position, core.retired, core.next_address))
    return found


def _check(stop: Stop) -> None:
    if stop.reason == "interrupt":
        raise Interrupted(stop)


def heard_before(
    session: Session, cores: set[str], matches: Callable[[Event], bool], count: int
) -> list[Position]:
    """The last positions before the present behind acts with announcements that match.

    At least `count`, fewer only if there are no more. The device is somewhere before the present
    afterwards. Raises `Interrupted`.
    """
    device, runner = session.device, session.runner
    now = end = device.position
    found: list[Position] = []
    while len(found) < count:
        point = session.history.earlier(end)
        if point is None:
            break
        found = [*_heard(session, point, end, cores, matches), *found]
        found = [position for position in found if position < now]
        end = point.position
        assert runner.session.device is device
    return found


def _heard(
    session: Session,
    point: Checkpoint,
    end: Position,
    cores: set[str],
    matches: Callable[[Event], bool],
) -> list[Position]:
    device = session.device
    session.runner.rewind(point.position)
    session.watching.disarm()
    found: list[Position] = []
    noted = False

    def hear(event: Event) -> None:
        nonlocal noted
        noted = noted or matches(event)

    def acted(core: Core | None) -> None:
        nonlocal noted
        if noted:
            # Behind the arbiter a run stops at the begin of the next cycle.
            found.append((device.cycle + 1, 0) if core is None else device.position)
        noted = False

    device.listen(hear, cores)
    device.acted = acted
    try:
        with session.runner.replaying():
            _check(session.runner.forward(end))
    finally:
        device.acted = None
        device.unlisten(hear)
    return found


def last_hit(session: Session, now: Position, floor: Position) -> Found | None:
    """The last stop of a point before `now`, and not before `floor`; None: there is none.

    The device is somewhere before `now` afterwards. Raises `Interrupted`.
    """
    end, last = now, True
    while end >= floor:  # what a checkpoint at the floor was taken after lies before it
        point = session.history.earlier(end)
        if point is None:
            return None
        found = _hits(session, point, end, last)
        if found is not None:
            return found if found.position >= floor else None
        end, last = point.position, False
        if session.runner.on_progress is not None:
            session.runner.on_progress("going back", end[0])
    return None


def _hits(session: Session, point: Checkpoint, end: Position, last: bool) -> Found | None:
    """The last hit from a checkpoint to a position; at that one too if it is not the `last`."""
    session.runner.rewind(point.position)
    session.choose_engine()
    device, watching, runner = session.device, session.watching, session.runner
    found: Found | None = None
    watching.scanning = True
    with runner.replaying():
        watching.arm()
        try:
            while True:
                stop = runner.forward(end)
                _check(stop)
                hits, watching.met = tuple(watching.met), []
                here = device.position
                if not hits or here > end or (here == end and last):
                    return found
                if found is not None and found.position == here:  # stops of two cores
                    hits = (*found.hits, *hits)
                found = Found(here, hits, stop.core, stop.address)
                if here == end:
                    return found
        finally:
            watching.rest()
            watching.scanning = False
