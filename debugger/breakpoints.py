"""Tests breakpoints while a device runs.

A core of class `Breakable` gets its breakpoints as breaks (an address with a test) and stops there
by itself. For all other cores, this module compares the address of each announced instruction with
the addresses of the breakpoints.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from macaw.debugger.event_fields import place_of, reaches
from macaw.debugger.layers import layer_breaks
from macaw.debugger.locations import Target, holds_code
from macaw.debugger.places import Place, places
from macaw.debugger.point import Point
from macaw.debugger.point_checks import point_targets
from macaw.debugger.stops import Hit
from macaw.emu.breaks import Break, Breakable

if TYPE_CHECKING:
    from macaw.debugger.arrivals import Arrivals
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.hit_counter import HitCounter
    from macaw.emu.core import Core

Test = Callable[[], bool]
Goals = Mapping[
    str, Mapping[int, Test]
]  # by core and address: a run ends at the address if the test is true
PointTarget = tuple[Point, Target]  # a breakpoint, and one address of one core at which it is


class Breakpoints:
    """The active breakpoints of a session, with their addresses on the present device."""

    def __init__(self, debuggee: Debuggee, arrivals: Arrivals, counter: HitCounter) -> None:
        self.debuggee = debuggee
        self.arrivals = arrivals
        self.counter = counter
        self._halting: dict[str, dict[int, list[PointTarget]]] = {}  # for `Breakable` cores
        self._by_announcement: dict[str, dict[int, list[PointTarget]]] = {}  # for all other cores
        self._breaks: dict[str, dict[int, Break]] = {}
        self._cores_with_breaks: set[str] = set()  # the cores for which breaks are set now

    @property
    def cores(self) -> set[str]:
        """The names of the cores that do not test their breakpoints by themselves.

        The monitor must examine these cores after each act (an instruction or a cycle).
        """
        return set(self._by_announcement)

    def forget_device(self) -> None:
        """Forget which cores have breaks, because another device replaces the present one."""
        self._cores_with_breaks = set()

    def prepare(self, points: Iterable[Point]) -> None:
        """Find the addresses of these points on the present device, and build the breaks there."""
        by_core: dict[str, dict[int, list[PointTarget]]] = {}
        for point in points:
            for target in point_targets(self.debuggee, point):
                at = by_core.setdefault(target.core.name, {})
                at.setdefault(target.address, []).append((point, target))
        cores = self.debuggee.device.cores
        self._halting = {n: x for n, x in by_core.items() if isinstance(cores[n], Breakable)}
        self._by_announcement = {
            n: x for n, x in by_core.items() if not isinstance(cores[n], Breakable)
        }
        self._breaks = {
            name: {at: self._break(cores[name], some) for at, some in by_address.items()}
            for name, by_address in self._halting.items()
        }

    def _break(self, core: Core, points: list[PointTarget]) -> Break:
        place = Place(core.name)
        test = partial(self._stops, place, points)
        texts: list[str] = []
        names: dict[str, object] = {}
        for point, target in points:
            condition = self.counter.condition(point, place)
            if condition is None or not condition.live or target.of is not None:
                return Break(test)
            if condition.live_core not in ("", core.name):
                return Break(test)
            # While a guard is true, memory lacks a delayed write, so only `test` gives the right
            # result.
            parts = [*condition.guards, f"({condition.live})"]
            names |= {k: v for k, v in condition.names.items() if any(k in x for x in parts)}
            texts += parts
        return Break(test, " or ".join(texts), names)

    def arm(self, goals: Goals) -> None:
        """Set the breaks of all breakpoints, and breaks at the goals of this run.

        A goal is an address at which the run ends, for example the end of a step: `goals` has a
        test for each goal, by core name and address.
        """
        for core in self.debuggee.device.order:
            breaks = self._breaks.get(core.name, {})
            if core.name in goals:
                breaks = {**breaks, **self._with_goals(core, breaks, goals[core.name])}
            if not core.number and self.debuggee.program.network is not None:
                breaks = layer_breaks(self.debuggee, breaks)
            if isinstance(core, Breakable) and (breaks or core.name in self._cores_with_breaks):
                core.set_breaks(breaks)
        self._cores_with_breaks = {*self._breaks, *goals}

    def _with_goals(
        self, core: Core, breaks: Mapping[int, Break], goals: Mapping[int, Test]
    ) -> dict[int, Break]:
        """Return breaks at a core's goals. Each break also tests the breakpoints at its address.

        `breaks` are the breaks of the core's breakpoints by address; `goals` are the tests of the
        goals (addresses at which the run ends) by address. If the last stop has already shown the
        user that the core is at a goal, this goal stops the core only when it comes there again.
        """

        def test(at: int, goal: Test, other: Test | None) -> bool:
            is_hit = other is not None and other()
            if self.arrivals.is_shown(core, at):
                return is_hit
            return is_hit or goal()

        return {
            at: Break(partial(test, at, goal, breaks[at].test if at in breaks else None))
            for at, goal in goals.items()
        }

    def disarm(self) -> None:
        """Remove all breaks from the cores.

        If the program is a network, the control core keeps breaks that record the start of each
        layer.
        """
        for name in self._cores_with_breaks:
            core = self.debuggee.device.cores[name]
            if isinstance(core, Breakable):
                core.set_breaks({})
        self._cores_with_breaks = set()
        control = self.debuggee.device.order[0]
        if self.debuggee.program.network is not None and isinstance(control, Breakable):
            control.set_breaks(layer_breaks(self.debuggee, {}))

    def check_next(self, core: Core) -> None:
        """Count the hits of breakpoints at a core's next instruction, when a step has ended there.

        A dprintf is not counted here: it prints and counts later, right before the core executes
        the instruction.
        """
        for address in core.next_addresses:
            points = self._halting.get(core.name, {}).get(address, ())
            self._stops(Place(core.name), [x for x in points if x[0].kind != "dprintf"])

    def _stops(self, place: Place, points: list[PointTarget]) -> bool:
        """Count the hits of `points` at a core's next instruction.

        Return whether one of the points stops the core.
        """
        core = self.debuggee.device.cores[place.core]
        counter = self.counter
        hits: list[Hit] = []
        for point, target in points:
            if not (
                counter.scanning or self.arrivals.is_new(core, point.number, target.address)
            ) or not holds_code(self.debuggee, target):
                continue
            count = point.hits
            hits += counter.count(point, place, place.core, place)
            if point.hits != count:
                self.arrivals.report(core, target.address, (point.number,))
        counter.hits += hits
        return bool(hits)

    def hits_at(self, core: Core, kind: str, values: dict[str, Any]) -> Iterator[Hit]:
        """Yield the hits of breakpoints when a core that is not `Breakable` makes an announcement.

        An announcement is a report of the core, for example that it begins an instruction. `kind`
        and `values` are its kind and its fields.
        """
        if core.name not in self._by_announcement or kind not in core.table.begins:
            return
        place = place_of(core, values)
        for point, target in self._by_announcement[core.name].get(values["address"], ()):
            where = places(self.debuggee.device, point.place) if point.place else (place,)
            is_inside = any(reaches(core, values, one) for one in where)
            if is_inside and holds_code(self.debuggee, target):
                yield from self.counter.count(point, place, str(place), place, values)
