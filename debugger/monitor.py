"""Tests the points of a session while its device runs.

A caller calls `arm` before a run and `rest` after it; `hits` then has the hits that stopped the
run. During an act the monitor only records announcements. It tests conditions and compares values
after the act, or right before an instruction with a breakpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

from macaw.debugger.arrivals import Arrivals
from macaw.debugger.breakpoints import Breakpoints, Goals
from macaw.debugger.catchpoints import Catchpoints
from macaw.debugger.expressions import compile_expression
from macaw.debugger.hit_counter import HitCounter
from macaw.debugger.places import Place
from macaw.debugger.point import BREAKS, WATCHES
from macaw.debugger.stops import ARRIVED, Hit
from macaw.debugger.watch_set import Announcement, WatchSet
from macaw.emu.breaks import Instrumented
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.points import Points
    from macaw.emu.core import Core, Event
    from macaw.emu.device import Device

StepTest = Callable[[Announcement], Hit | None]  # returns a hit if an announcement ends a step
NO_GOALS: Goals = MappingProxyType({})


class Monitor:
    """Tests the breakpoints, watches and caught events of one session while the device runs."""

    def __init__(self, debuggee: Debuggee, points: Points) -> None:
        self.debuggee = debuggee
        self.points = points
        self._arrivals = Arrivals()
        self._counter = HitCounter(debuggee)
        self._breakpoints = Breakpoints(debuggee, self._arrivals, self._counter)
        self._catchpoints = Catchpoints(debuggee, self._counter)
        self._watches = WatchSet(debuggee)
        self._device: Device | None = None  # the device for which the parts are prepared
        self._version: object = None
        self._step_test: StepTest | None = None  # the `step_test` of this run
        self._announcements: list[Announcement] = []  # the announcements of this act
        self._cores: set[str] = set()  # the names of cores to which the monitor listens
        self._listener = self._hear  # one object, so that it can be removed again

    @property
    def hits(self) -> list[Hit]:
        """The hits that stopped the last run."""
        return self._counter.hits

    def take_hits(self) -> tuple[Hit, ...]:
        """Return the hits so far, and empty `hits`."""
        hits, self._counter.hits = tuple(self._counter.hits), []
        return hits

    @property
    def ends_step(self) -> bool:
        """Whether the last act has completed the steps of this run."""
        return any(hit.kind in ("step", ARRIVED) for hit in self.hits)

    def needs_reference(self) -> bool:
        """Return whether a fast engine could report hits of an enabled point too late."""
        for point in self.points.active:
            if point.kind == "catch" and self._catchpoints.is_late(point):
                return True
            if point.kind in WATCHES:
                cores = compile_expression(self.debuggee, point.text, point.focus or None).cores
                order = self.debuggee.device.cores
                if any(not isinstance(order[name], Instrumented) for name in cores):
                    return True
        return False

    # Before and after a run

    def arm(
        self,
        listen: Iterable[str] = (),
        step_test: StepTest | None = None,
        goals: Goals = NO_GOALS,
    ) -> None:
        """Prepare all points for a run.

        `listen` has the names of cores. `step_test` gets the announcements of these cores, and
        perhaps those of others; a hit that it returns ends the run. `goals` has tests by core and
        address: the run ends without a hit when a core arrives at such an address and the test is
        true.
        """
        device = self.debuggee.device
        version = self.points.version, self.debuggee.focus
        if self._device is not device or self._version != version:
            self._prepare(device)
            self._version = version
        self._breakpoints.arm(goals)
        self._counter.hits, self._announcements, self._step_test = [], [], step_test
        self._watches.arm()
        self._catchpoints.begin()
        self._cores = self._breakpoints.cores | self._catchpoints.cores | self._watches.act_cores
        self._cores |= set(listen)
        if self._cores:
            device.listen(self._listener, self._cores)
        if self._cores or self._watches.all:
            device.on_act = self._after_act

    def _prepare(self, device: Device) -> None:
        if self._device is not device:
            self._breakpoints.forget_device()
            self._watches.forget_device()
        self._device = device
        self._counter.prepare()
        points = self.points.active
        self._catchpoints.prepare(points)
        self._breakpoints.prepare(points)
        self._watches.prepare(points, self._counter.condition)

    def rest(self) -> None:
        """Stop listening after a run. The breaks of cores remain set for the next run."""
        device = self.debuggee.device
        if self._cores:
            device.unlisten(self._listener)
        device.on_act = None
        self._cores = set()
        self._step_test = None
        self._watches.rest()

    def disarm(self) -> None:
        """Remove all breaks from the cores, before a change of position or a replay.

        Also forget at which instructions points have already stopped a core.
        """
        self._breakpoints.disarm()
        self.forget_arrivals()

    @contextmanager
    def scanning(self) -> Iterator[None]:
        """Inside of the `with` block, collect hits without counting or printing them."""
        self._counter.scanning = True
        try:
            yield
        finally:
            self.rest()
            self._counter.scanning = False

    def end_run(self, stop: Stop) -> None:
        """Add to `hits` the hits of points that catch the reason why the run has ended."""
        self._counter.hits += self._catchpoints.at_end(stop, self.points.active)

    def take_over(self, old: Device, new: Device) -> None:
        """Use `new` in place of `old`, a device in the same state.

        A point that has already stopped a core at its next instruction does not stop it there
        again, although the device is another one.
        """
        self._arrivals.transfer(old, new)

    # Stops before instructions

    def forget_arrivals(self) -> None:
        """Forget the last hits, and at which instructions points have already stopped a core.

        Callers do so before another run and after a change of position.
        """
        self._arrivals.clear()
        self._counter.hits = []

    def show(self, core: Core) -> None:
        """Record that a stop shows the user which instruction a core will execute next.

        If the user sets a point there after this stop, the point does not stop the core before it
        comes to this instruction again.
        """
        self._arrivals.show(core, max(self.points.all, default=0))

    def report(self, core: Core, address: int, numbers: Iterable[int]) -> None:
        """Record that a stop has reported breakpoints at the instruction of `core` at `address`.

        `numbers` are the numbers of the breakpoints. They do not stop the core there again before
        it comes to this instruction another time.
        """
        self._arrivals.report(core, address, numbers)

    def check_next(self, core: Core) -> None:
        """Add to `hits` the breakpoints at a core's next instruction, where a step has ended."""
        if self._device is self.debuggee.device:
            self._breakpoints.check_next(core)

    # During a run

    def _hear(self, event: Event) -> None:
        self._announcements.append((event.kind, event.core.name, dict(event.values)))

    def _after_act(self, core: Core | None) -> None:
        """Test the points after an act of a core, such as an instruction.

        None means an act of the arbiter of a memory.
        """
        announcements, self._announcements = self._announcements, []
        cores = self.debuggee.device.cores
        hits: list[Hit] = []
        for kind, name, values in announcements:
            hits += self._breakpoints.hits_at(cores[name], kind, values)
            hits += self._catchpoints.hits_at(cores[name], kind, values)
        for point, by, values, old, new in self._watches.after_act(core, announcements):
            viewpoint = Place(by) if by else self.debuggee.focus[0]
            hits += self._counter.count(point, viewpoint, by, None, values, (old, new))
        if core is not None:
            hits += self._catchpoints.after_act(core)
        if self._step_test is not None:
            hits += [hit for hit in map(self._step_test, announcements) if hit is not None]
        if hits:
            self._stop(core, hits)

    def _stop(self, core: Core | None, hits: list[Hit]) -> None:
        device = self.debuggee.device
        self._counter.hits += hits
        name = core.name if core is not None else hits[0].by
        address = hits[0].values.get("address") if hits[0].kind in (*BREAKS, ARRIVED) else None
        device.interrupt(Stop("event", device.cycle, core=name, address=address))
