"""Finds the events that `catch` points wait for while a device runs.

An event is an announcement of a core, a change of a core's state, or the end of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from macaw.debugger.event_fields import inside, place_of
from macaw.debugger.events import event_of
from macaw.debugger.places import Place, places
from macaw.debugger.point import Point
from macaw.debugger.state_events import STATE_EVENTS, StateEvent, state_event_of
from macaw.debugger.stops import Hit
from macaw.emu.breaks import Instrumented

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.hit_counter import HitCounter
    from macaw.emu.core import Core
    from macaw.emu.faults import Stop


class Catchpoints:
    """The active `catch` points of a session, with what they test on the present device."""

    def __init__(self, debuggee: Debuggee, counter: HitCounter) -> None:
        self.debuggee = debuggee
        self.counter = counter
        self._state_events: list[tuple[Point, StateEvent]] = []
        self._announcements: list[tuple[Point, str, list[Place]]] = []  # point, kind, places

    def is_late(self, point: Point) -> bool:
        """Return whether a fast engine may report the point's event some cycles too late."""
        device = self.debuggee.device
        event = event_of(device, point.text)
        if event.late or event.announced or event.name not in STATE_EVENTS:
            return event.late
        where = {place.core for place in places(device, point.place)} if point.place else ()
        return any(
            not isinstance(device.cores[name], Instrumented) for name in where or device.cores
        )

    def prepare(self, points: Iterable[Point]) -> None:
        """Determine how to notice the events of these points on the present device.

        Cores announce some events. For the other events, the object compares a core's state after
        each act with the state before the act.
        """
        device = self.debuggee.device
        self._state_events, self._announcements = [], []
        for point in points:
            if point.kind != "catch":
                continue
            event = event_of(device, point.text)
            where = self._places(point)
            if event.announced:
                self._announcements.append((point, event.announced, where))
                continue
            names = {place.core for place in where}
            for core in device.order:
                if not names or core.name in names:
                    own = [place for place in where if place.core == core.name]
                    state_event = state_event_of(event.name, device, core, own)
                    if state_event is not None:
                        self._state_events.append((point, state_event))

    def _places(self, point: Point) -> list[Place]:
        return list(places(self.debuggee.device, point.place)) if point.place else []

    @property
    def cores(self) -> set[str]:
        """The names of the cores whose acts must be examined one by one.

        An act is an instruction or, for some cores, a cycle.
        """
        device = self.debuggee.device
        names = {event.core.name for _, event in self._state_events}
        if any(event.by_others for _, event in self._state_events):
            names |= set(device.cores)
        for point, _, where in self._announcements:
            row = event_of(device, point.text)
            owners = {core.name for core in device.order if row in core.table.events}
            names |= {place.core for place in where} or owners
        return names

    def begin(self) -> None:
        """Prepare for a run: what holds already at its start, such as a full queue, is no event.

        If the queue leaves this state and becomes full again, that is an event.
        """
        for _, event in self._state_events:
            event.begin()

    def hits_at(self, core: Core, kind: str, values: dict[str, Any]) -> Iterator[Hit]:
        """Yield the hits of points that an announcement of a core causes.

        An announcement is a report of what the core does. `kind` and `values` are its kind and its
        fields.
        """
        for point, announcement, where in self._announcements:
            place = place_of(core, values)
            if announcement != kind or not inside(place, where):
                continue
            if event_of(self.debuggee.device, point.text) in core.table.events:
                yield from self.counter.count(point, place, core.name, place, values)

    def after_act(self, core: Core) -> Iterator[Hit]:
        """Yield the hits of points whose events the last act of a core has caused.

        These are events that no core announces: the state before and after the act shows them.
        """
        for point, event in self._state_events:
            if event.core is core or event.by_others:
                for values in event.look():
                    viewpoint = place_of(core, values)
                    yield from self.counter.count(point, viewpoint, core.name, values=values)

    def at_end(self, stop: Stop, points: Iterable[Point]) -> Iterator[Hit]:
        """Yield the hits of those points that catch the reason why a run ended (`catch fault`)."""
        core = self.debuggee.device.cores.get(stop.core)
        if core is None:
            return
        place = Place(core.name)
        for point in points:
            is_caught = point.kind == "catch" and point.text == stop.reason
            if is_caught and inside(place, self._places(point)):
                yield from self.counter.count(point, place, core.name)
