"""Steps of a session that are counted: of cores, of their units, of what is more than instructions.

Each function runs the device (or finds the way back) and says how many were done; the record
of it is the session's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from macaw.debugger.backwards import heard_before
from macaw.debugger.hearing import inside, place_of, reaches
from macaw.debugger.history import START, Position
from macaw.debugger.locations import Target, is_there
from macaw.debugger.places import Place
from macaw.debugger.runner import width
from macaw.debugger.stops import ARRIVED, Hit, SessionError
from macaw.debugger.watches import Noted

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.debugger.watching import Test
    from macaw.emu.core import Core, Event
    from macaw.emu.faults import Stop

INSTRUCTION = "instruction"  # the announcement of its begin
PIECE = ""  # of the end of what is more: an exe command, a chain, a transfer


def stepped(session: Session, only: bool, every: bool) -> Sequence[Core]:
    """The cores whose steps count: the focused ones, the first of them, or all that run."""
    device = session.device
    if every:
        return [core for core in device.order if core.running]
    names = dict.fromkeys(place.core for place in session.focus)
    cores = [device.cores[name] for name in names]
    return cores[:1] if only else cores


def workplaces(session: Session) -> list[Place]:
    """The places whose pieces count: focused ones that work on such, else all that do."""
    device = session.device
    where = [x for x in session.focus if device.cores[x.core].table.piece]
    return where or [Place(core.name) for core in device.order if core.table.piece]


def step_cores(session: Session, cores: Sequence[Core], count: int) -> tuple[Stop, int]:
    """Step cores until each that runs has come so far; what wide ones do at once is a step."""
    if session.device.stopped is not None:
        return session.device.stopped, 0
    # A core that is given its work may wait for it; one with a program has to have one.
    ready = [core.name for core in cores if core.running or not core.table.executable]
    if not ready:
        names = ", ".join(core.name for core in cores)
        raise SessionError(f"{names}: nothing runs there to be stepped")
    once = 1 if any(width(session.device.cores[name]) > 1 for name in ready) else count
    for done in range(0, count, once):
        goals = {name: session.device.cores[name].retired + once for name in ready}
        for name, goal in goals.items():
            core = session.device.cores[name]
            if core.retired >= goal or (name != ready[0] and not core.running):
                continue
            step = partial(session.runner.step, name, goal - core.retired)
            raw = session.runner.live(step)
            if raw.reason != "step":
                core = session.device.cores[name]
                return raw, done + once - max(0, goal - core.retired)
    return raw, count


def heard(session: Session, where: Sequence[Place], kind: str, count: int) -> tuple[Stop, int]:
    """Run until so many acts of places announce a kind."""
    left, last = count, START
    cores = {place.core for place in where}

    def hear(item: Noted) -> Hit | None:
        nonlocal left, last
        announced, name, values = item
        core = session.device.cores[name]
        if name not in cores or not _counts(core, announced, values, where, kind):
            return None
        if session.device.position == last:
            return None  # what is announced in one act is one step, there and back
        left, last = left - 1, session.device.position
        by = str(place_of(core, values))
        return Hit(0, "step", announced, by=by, values=values) if left == 0 else None

    session.watching.extra = hear
    try:
        raw = session.runner.live(session.runner.forward, extra=cores)
    finally:
        session.watching.extra = None
    return raw, count - left


def arrived(session: Session, goals: Sequence[Target]) -> Stop:
    """Run until a core is at one of some places: before it, or behind the act that begins there."""
    before: dict[str, dict[int, Test]] = {}
    behind = [target for target in goals if not target.core.halts]
    for target in goals:
        if target.core.halts:
            before.setdefault(target.core.name, {})[target.address] = partial(
                is_there, session, target
            )

    def hear(item: Noted) -> Hit | None:
        announced, name, values = item
        core = session.device.cores[name]
        place = place_of(core, values)
        wanted = [x for x in session.focus if x.core == name] or [place]
        if announced not in core.table.begins or not any(
            reaches(core, values, one) for one in wanted
        ):
            return None
        at = (x for x in behind if x.core.name == name and x.address == values["address"])
        if any(is_there(session, target) for target in at):
            return Hit(0, ARRIVED, announced, by=str(place), values=values)
        return None

    session.watching.extra = hear if behind else None
    try:
        names = {target.core.name for target in behind}
        return session.runner.live(session.runner.forward, extra=names, goals=before)
    finally:
        session.watching.extra = None


def heard_back(
    session: Session, where: Sequence[Place], kind: str, count: int
) -> tuple[Position, list[Position]]:
    """Where so many acts of places before announced a kind, and the positions of these acts.

    Raises `Interrupted`.

    The device is somewhere before the present afterwards.
    """
    now, cores = session.device.position, {place.core for place in where}

    def matches(event: Event) -> bool:
        return _counts(event.core, event.kind, dict(event.values), where, kind)

    found = heard_before(session, cores, matches, count)
    if len(found) < count:
        return session.landing(START, (found or [now])[0]), found
    ends = [*found[1:], now]
    at = len(found) - count
    return session.landing(found[at], ends[at]), found[at:]


def _counts(
    core: Core, announced: str, values: dict[str, Any], where: Sequence[Place], kind: str
) -> bool:
    """Whether an announcement of a kind is of one of the places."""
    if announced != (kind or core.table.piece):
        return False
    place = place_of(core, values)
    return any(
        # What goes on in other units of a core is over for the unit that was asked for alone.
        inside(place, [x]) and (kind or x.units or not values.get("left"))
        for x in where
    )
