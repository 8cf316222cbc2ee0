"""What of the points is at work on a device while it runs.

`arm` before a run and `rest` after it; `met` are then the points that stopped it. What happens
inside an act is only noted; conditions and values are looked at when the act is over, or
right before an instruction with a breakpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from macaw.debugger.changes import CHANGES, Change, change_of
from macaw.debugger.expressions import Expression, ExpressionError, compiled
from macaw.debugger.hearing import inside, place_of, reaches
from macaw.debugger.locations import Target, is_there
from macaw.debugger.places import Place, places
from macaw.debugger.points import BREAKS, WATCHES, Point, condition_of, event_of
from macaw.debugger.stops import ARRIVED, Hit
from macaw.debugger.watches import Noted, Watches
from macaw.emu.breaks import Break
from macaw.emu.core import Event
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.emu.core import Core
    from macaw.emu.device import Device

NONE = 1 << 62  # no point has so high a number
Test = Callable[[], bool]
Broken = tuple[Point, Target]  # a breakpoint at an address of a core


@dataclass
class Arrival:
    """A core has come to an instruction: the breakpoints that need no more be asked about there."""

    moment: object  # `Core.moment`
    told: set[int] = field(default_factory=set)  # points that were counted
    newest: int = NONE  # those with a higher number were set while the session showed it


class Watching:
    """The points of one session at work."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.met: list[Hit] = []
        self.scanning = False  # hits are only to be found, nothing is counted or printed
        self.extra: Callable[[Noted], Hit | None] | None = None  # what else ends this run
        self._device: Device | None = None
        self._version: object = None
        self._breaks: dict[str, dict[int, Break]] = {}
        self._points: dict[str, dict[int, list[Broken]]] = {}  # of cores that halt
        self._broken: set[str] = set()  # cores that have them now
        self._instructions: dict[str, dict[int, list[Broken]]] = {}  # of cores that do not halt
        self._watches = Watches(session)
        self._conditions: dict[tuple[int, Place], Expression | None] = {}
        self._changes: list[tuple[Point, Change]] = []
        self._announced: list[tuple[Point, str, list[Place]]] = []
        self._noted: list[Noted] = []
        self._listens: set[str] = set()
        self._listener = self._hear  # one object, to be found again
        self._arrivals: dict[tuple[str, int], Arrival] = {}  # by core and address

    def needs_reference(self) -> bool:
        """Whether something is asked for that fast engines do not tell in its own cycle."""
        session = self.session
        for point in session.points.active:
            if point.kind == "catch" and self._is_late(point):
                return True
            if point.kind in WATCHES:
                cores = compiled(session, point.text, point.focus or None).cores
                if any(not session.device.cores[name].asks for name in cores):
                    return True
        return False

    def _is_late(self, point: Point) -> bool:
        """Whether fast engines tell of an event when they get there."""
        session = self.session
        event = event_of(session, point.text)
        if event.late or event.announced or event.name not in CHANGES:
            return event.late
        where = {place.core for place in places(session.device, point.place)} if point.place else ()
        return any(not session.device.cores[name].asks for name in where or session.device.cores)

    # On and off

    def arm(
        self,
        extra: Iterable[str] = (),
        goals: Mapping[str, Mapping[int, Test]] = MappingProxyType({}),
    ) -> None:
        """Put all points to work.

        The cores `extra` are listened to for `self.extra`. `goals` are places, by core and
        address, that end this run where their test holds, without a hit.
        """
        session, device = self.session, self.session.device
        version = session.points.version, session.focus
        if self._device is not device or self._version != version:
            self._prepare(device)
            self._version = version
        for core in device.order:
            breaks = self._breaks.get(core.name, {})
            if core.name in goals:
                breaks = {**breaks, **self._with_goals(core, breaks, goals[core.name])}
            if breaks or core.name in self._broken:
                core.set_breaks(breaks)
        self._broken = {*self._breaks, *goals}
        self.met, self._noted = [], []
        self._watches.arm(device)
        for _, change in self._changes:
            change.begin()
        self._listens = self._wanted() | set(extra)
        if self._listens:
            device.listen(self._listener, self._listens)
        if self._listens or self._watches.all:
            device.acted = self._after

    def rest(self) -> None:
        """Listen no more; breaks stay for the next run."""
        device = self.session.device
        if self._listens:
            device.unlisten(self._listener)
        device.acted = None
        self._listens = set()
        self._watches.rest()

    def disarm(self) -> None:
        """Take breaks away: the run is elsewhere, and what happens now has happened before."""
        for name in self._broken:
            self.session.device.cores[name].set_breaks({})
        self._broken = set()
        self.forget_arrivals()

    @property
    def steps_done(self) -> bool:
        """Whether what the run was to do has been done in its last act."""
        return any(hit.kind in ("step", ARRIVED) for hit in self.met)

    def ended(self, stop: Stop) -> None:
        """The run has just ended: `met` has the points that were to catch that, too."""
        core = self.session.device.cores.get(stop.core)
        for point in self.session.points.active:
            if point.kind == "catch" and point.text == stop.reason and core is not None:
                where = places(self.session.device, point.place) if point.place else ()
                if inside(Place(core.name), list(where)):
                    condition = self._condition(point, Place(core.name))
                    self.met += self._met(point, condition, core.name)

    # Where a stop shows a core

    def forget_arrivals(self) -> None:
        """The run is another one, or is elsewhere in it: no stop has reported anything."""
        self._arrivals.clear()
        self.met = []

    def show(self, core: Core) -> None:
        """The session shows a core before an instruction: points set from now on pass there."""
        newest = max(self.session.points.all, default=0)
        for address in core.following:
            arrival = self._arrival(core, address)
            arrival.newest = min(arrival.newest, newest)

    def tell(self, core: Core, address: int, numbers: Iterable[int]) -> None:
        """A stop has reported breakpoints at an instruction: they are passed there."""
        self._arrival(core, address).told.update(numbers)

    def look(self, core: Core) -> None:
        """A step has ended before an instruction: `met` has the breakpoints there, too.

        What would only print prints before the instruction is done.
        """
        if self._device is not self.session.device:
            return
        for address in core.following:
            points = self._points.get(core.name, {}).get(address, ())
            stopping = [broken for broken in points if broken[0].kind != "dprintf"]
            self._reached(Place(core.name), stopping)

    def take_over(self, old: Device, new: Device) -> None:
        """The session goes on with another device, which is in the same state."""
        for (name, address), arrival in self._arrivals.items():
            if old.cores[name].moment(address) == arrival.moment:
                arrival.moment = new.cores[name].moment(address)

    def _arrival(self, core: Core, address: int) -> Arrival:
        moment = core.moment(address)
        known = self._arrivals.get((core.name, address))
        if known is None or known.moment != moment:
            known = self._arrivals[core.name, address] = Arrival(moment)
        return known

    def _is_new(self, core: Core, point: Point, address: int) -> bool:
        """Whether no stop has reported a breakpoint at the instruction that a core is before."""
        known = self._arrivals.get((core.name, address))
        if self.scanning or known is None or known.moment != core.moment(address):
            return True
        return point.number not in known.told and point.number <= known.newest

    def _with_goals(
        self, core: Core, breaks: Mapping[int, Break], goals: Mapping[int, Test]
    ) -> dict[int, Break]:
        """Breaks that stop for a goal as well, but not where a stop shows the core already."""

        def test(at: int, goal: Test, other: Test | None) -> bool:
            is_met = other is not None and other()
            known = self._arrivals.get((core.name, at))
            if known is not None and known.moment == core.moment(at) and known.newest < NONE:
                return is_met
            return is_met or goal()

        return {
            at: Break(partial(test, at, goal, breaks[at].test if at in breaks else None))
            for at, goal in goals.items()
        }

    def _prepare(self, device: Device) -> None:
        session = self.session
        if self._device is not device:
            self._broken = set()
            self._watches.forget_device()
        self._device = device
        points: dict[str, dict[int, list[Broken]]] = {}
        self._changes, self._announced = [], []
        self._conditions.clear()
        for point in session.points.active:
            for target in session.points.targets(point):
                found = points.setdefault(target.core.name, {})
                found.setdefault(target.address, []).append((point, target))
            if point.kind == "catch":
                self._prepare_event(point)
        cores = device.cores
        self._points = {n: x for n, x in points.items() if cores[n].halts}
        self._breaks = {
            name: {at: self._break(cores[name], some) for at, some in found.items()}
            for name, found in self._points.items()
        }
        self._instructions = {n: x for n, x in points.items() if not cores[n].halts}
        self._watches.prepare(device, lambda point, name: self._condition(point, Place(name)))

    def _prepare_event(self, point: Point) -> None:
        session = self.session
        event = event_of(session, point.text)
        where = list(places(session.device, point.place)) if point.place else []
        if event.announced:
            self._announced.append((point, event.announced, where))
            return
        cores = {place.core for place in where}
        for core in session.device.order:
            if not cores or core.name in cores:
                inside = [place for place in where if place.core == core.name]
                change = change_of(event.name, session.device, core, inside)
                if change is not None:
                    self._changes.append((point, change))

    def _break(self, core: Core, points: list[Broken]) -> Break:
        place = Place(core.name)
        test = partial(self._reached, place, points)
        texts: list[str] = []
        names: dict[str, object] = {}
        for point, target in points:
            condition = self._condition(point, place)
            if condition is None or not condition.live or target.of is not None:
                return Break(test)
            if condition.live_core not in ("", core.name):
                return Break(test)
            # Who has yet to write what the text would read makes the core ask in full.
            some = [*condition.guards, f"({condition.live})"]
            names |= {k: v for k, v in condition.names.items() if any(k in x for x in some)}
            texts += some
        return Break(test, " or ".join(texts), names)

    def _condition(self, point: Point, place: Place) -> Expression | None:
        """A point's condition as seen from a place, compiled once."""
        key = point.number, place
        if key not in self._conditions:
            self._conditions[key] = condition_of(self.session, point, place)
        return self._conditions[key]

    def _wanted(self) -> set[str]:
        """The cores whose acts have to be seen one by one."""
        device = self.session.device
        found = set(self._instructions) | {change.core.name for _, change in self._changes}
        if any(change.given for _, change in self._changes):
            found |= set(device.cores)
        for point, _, where in self._announced:
            own = event_of(self.session, point.text)
            names = {core.name for core in device.order if own in core.table.events}
            found |= {place.core for place in where} or names
        return found | self._watches.wanted()

    # While it runs

    def _hear(self, event: Event) -> None:
        self._noted.append((event.kind, event.core.name, dict(event.values)))

    def _after(self, core: Core | None) -> None:
        """An act is over; None: of the arbiter."""
        noted, self._noted = self._noted, []
        hits = [hit for item in noted for hit in self._heard(item)]
        for point, by, values, old, new in self._watches.seen(core, noted):
            place = Place(by) if by else None
            condition = self._condition(point, place or self.session.focus[0])
            hits += self._met(point, condition, by, None, values, (old, new))
        if core is not None:
            for point, change in self._changes:
                if change.core is core or change.given:
                    for values in change.look():
                        condition = self._condition(point, place_of(core, values))
                        hits += self._met(point, condition, core.name, values=values)
        if self.extra is not None:
            hits += [hit for hit in map(self.extra, noted) if hit is not None]
        if hits:
            self._end(core, hits)

    def _end(self, core: Core | None, hits: list[Hit]) -> None:
        device = self.session.device
        self.met += hits
        name = core.name if core is not None else hits[0].by
        address = hits[0].values.get("address") if hits[0].kind in (*BREAKS, ARRIVED) else None
        device.interrupt(Stop("event", device.cycle, core=name, address=address))

    def _heard(self, item: Noted) -> Iterable[Hit]:
        kind, name, values = item
        core = self.session.device.cores[name]
        if name in self._instructions and kind in core.table.begins:
            place = place_of(core, values)
            for point, target in self._instructions[name].get(values["address"], ()):
                at = places(self.session.device, point.place) if point.place else (place,)
                there = any(reaches(core, values, one) for one in at)
                if there and is_there(self.session, target):
                    condition = self._condition(point, place)
                    yield from self._met(point, condition, str(place), place, values)
        for point, announced, where in self._announced:
            if announced != kind or not inside(place_of(core, values), where):
                continue
            if event_of(self.session, point.text) in core.table.events:
                place = place_of(core, values)
                condition = self._condition(point, place)
                yield from self._met(point, condition, name, place, values)

    def _reached(self, place: Place, points: list[Broken]) -> bool:
        """Whether one of the breakpoints stops the core, which is right before it."""
        core = self.session.device.cores[place.core]
        found: list[Hit] = []
        for point, target in points:
            if self._is_new(core, point, target.address) and is_there(self.session, target):
                counted = point.hits
                found += self._met(point, self._condition(point, place), place.core, place)
                if point.hits != counted:
                    self.tell(core, target.address, (point.number,))
        self.met += found
        return bool(found)

    def _met(
        self,
        point: Point,
        condition: Expression | None,
        by: str,
        place: Place | None = None,
        values: dict[str, Any] | None = None,
        change: tuple[Any, Any] = (None, None),
    ) -> list[Hit]:
        """The hit of a point if it stops the run; else it is counted, perhaps printed."""
        more = dict(values or {})
        try:
            if condition is not None and not condition.holds():
                return []
        except ExpressionError as error:
            more["error"] = f"in the condition of point {point.number}: {error}"
        if point.kind == "dprintf":
            if not self.scanning:
                point.hits += 1
                self.session.printed(point, place)
            return []
        if not self.scanning:
            point.hits += 1
            if point.ignore > 0:
                point.ignore -= 1
                return []
        return [point.hit(by, old=change[0], new=change[1], values=more)]
