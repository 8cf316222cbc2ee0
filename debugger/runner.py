"""Runs the device of a session in time slices, makes checkpoints, and takes requests to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

from macaw.debugger.history import START, Checkpoint, Edit, Position
from macaw.debugger.monitor import NO_GOALS, StepTest
from macaw.debugger.places import counts
from macaw.debugger.stops import SessionError
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Stop
from macaw.isa.errors import MacawError

if TYPE_CHECKING:
    from macaw.debugger.breakpoints import Goals
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.history import History
    from macaw.debugger.monitor import Monitor
    from macaw.emu.core import Core

SLICE = 0.02  # seconds between two checks of a run for requests
APART = 0.04  # least CPU time in seconds between checkpoints
# greatest CPU time in seconds between checkpoints: a step back may have to run for this time again
MOST_APART = 0.12
SHARE = 16  # the time between checkpoints is so many times the time that making one takes
BULK = 64  # the last instructions before a goal are stepped one by one


class Runner:
    """Runs the device of one session.

    There are two kinds of runs: live runs, which the points of the session (breakpoints, watches
    and caught events) can stop, and replays of the past, which they cannot.
    """

    def __init__(
        self,
        debuggee: Debuggee,
        history: History,
        monitor: Monitor,
    ) -> None:
        self.debuggee = debuggee
        self.history = history
        self.monitor = monitor
        # Called with (what, cycle) between time slices; what is "running", "replaying" or "going
        # back".
        self.on_progress: Callable[[str, int], object] | None = None
        # Called between acts; it returns the cycle from which it is called again.
        self.on_moment: Callable[[], int] | None = None
        self._moment = 0
        self._deadline = 0.0  # when the time slice ends
        self._ran = 0.0  # seconds since the last checkpoint
        self._costs: list[float] = []  # seconds for each of the last checkpoints

    def choose_engine(self) -> None:
        """Use the reference engine if a point needs it, else the session's own engine."""
        debuggee = self.debuggee
        engine = ENGINES[-1] if self.monitor.needs_reference() else debuggee.engine
        if debuggee.device.engine != engine:
            device = debuggee.build_device(engine)
            device.restore(debuggee.device.snapshot())
            self.monitor.take_over(debuggee.device, device)
            debuggee.device = device

    def forward(self, until: Position | None = None) -> Stop:
        """Run until something stops the device, or to a position; return the stop.

        Points stop this run only if the caller has prepared them (`live`).
        """
        device = self.debuggee.device
        if until is None:
            return self._drive(device.run)
        return self._drive(partial(device.run, until=until[0], turn=until[1]))

    def live(
        self,
        act: Callable[[], Stop],
        listen: Iterable[str] = (),
        step_test: StepTest | None = None,
        goals: Goals = NO_GOALS,
    ) -> Stop:
        """Call `act`, which runs the device, and return the stop. All points can stop this run.

        `step_test` gets the announcements of the cores `listen`, and ends the run by returning a
        hit. `goals` has tests by core and address: the run also ends at an address whose test is
        true (`Monitor.arm`).
        """
        debuggee = self.debuggee
        self.history.forget_edits(debuggee.device.position)
        debuggee.forget_layers_after(debuggee.device.position)
        self.choose_engine()
        at_end = debuggee.device.stopped is not None
        self.monitor.arm(listen, step_test, goals)
        try:
            stop = act()
            if not at_end:
                self.monitor.end_run(stop)
            return stop
        finally:
            self.monitor.rest()

    def step(self, name: str, count: int, until: Position | None = None) -> Stop:
        """Run until the core `name` has executed `count` more instructions, or to a position.

        Return the stop.
        """
        device = self.debuggee.device
        core = device.cores[name]
        goal = core.retired + count
        rate = width(core)
        cycle, turn = until or (None, 0)
        while core.retired < goal - BULK:
            # In a cycle a core executes at most one instruction for each of its units.
            ahead = device.cycle + (goal - core.retired) // rate
            if cycle is not None and ahead >= cycle:
                break
            stop = self._drive(partial(device.run, until=ahead))
            if stop.reason != "cycle limit":
                return stop
        one = partial(device.step_core, name, until=cycle, turn=turn)
        stop = self._drive(one)
        while stop.reason == "step" and core.retired < goal:
            stop = self._drive(one)
        return stop

    def step_while(self, name: str, goes_on: Callable[[], bool]) -> Stop:
        """Execute instructions of the core `name`, one or more, as long as `goes_on` returns True.

        Return the stop.
        """
        one = partial(self.debuggee.device.step_core, name)
        stop = self._drive(one)
        while stop.reason == "step" and goes_on():
            stop = self._drive(one)
        return stop

    def travel(self, goal: Position) -> Stop | None:
        """Go to the position `goal`, from the present position or from a checkpoint before `goal`.

        Return the stop of the run to the goal, or None if no run was necessary.
        """
        device = self.debuggee.device
        point, here = self.history.before(goal), device.position
        if goal < here or point.position > here or (point.has_edits and point.position == here):
            self.rewind(goal)
        if device.position >= goal:
            return None
        with self.replaying():
            self.monitor.disarm()
            return self.forward(goal)

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """Inside of the `with` block, hide the program's output, because runs repeat the past."""
        self.debuggee.output.replaying = True
        try:
            yield
        finally:
            self.debuggee.output.replaying = False

    def rewind(self, goal: Position) -> None:
        """Restore the last checkpoint at or before a position."""
        point = self.history.before(max(goal, START))
        self.monitor.disarm()
        self.debuggee.device.restore(point.snapshot)
        self.debuggee.output.drop_after(point.position)
        self._ran = 0.0

    def checkpoint(self, edits: tuple[Edit, ...] = (), number: int | None = None) -> int:
        """Add a checkpoint of the present to the history and return its number.

        `edits` are the changes that the user has just made, `number` is the user's number for the
        checkpoint (`History.take`).
        """
        begin = thread_time()
        point = self.history.take(self.debuggee.device, self._ran, edits, number)
        self._costs, self._ran = [*self._costs[-2:], thread_time() - begin], 0.0
        return point.number

    def _drive(self, act: Callable[[], Stop]) -> Stop:
        """Call `act`, which runs the device, until the device stops or a stop is requested.

        Return the stop. Raises `SessionError` if the emulator fails after an edit by the user, who
        may have made a state that no run has; the device is then where it was before the call.
        """
        begin = self.debuggee.device.position
        try:
            return self._drive_in_slices(act)
        except (MacawError, SessionError, MemoryError):
            raise
        except Exception as error:
            edited = self.history.last(lambda point: point.has_edits and point.position <= begin)
            if edited is None:
                raise
            cycle = self.debuggee.device.cycle
            self.rewind(begin)
            self.travel(begin)
            raise SessionError(_impossible(edited, cycle, error)) from error

    def _drive_in_slices(self, act: Callable[[], Stop]) -> Stop:
        device, interrupts = self.debuggee.device, self.debuggee.interrupts
        device.pause = self._pause
        self._moment = 0
        interrupts.running = True
        try:
            while True:
                begin = thread_time()
                self._deadline = perf_counter() + SLICE
                stop = act()
                self._ran += thread_time() - begin
                if self._ran >= self._apart():
                    self.checkpoint()
                if stop.reason != "interrupt" or interrupts.take():
                    return stop
                if self.on_progress is not None:
                    what = "replaying" if self.debuggee.output.replaying else "running"
                    self.on_progress(what, device.cycle)
        finally:
            interrupts.running = False
            device.pause = None

    def _apart(self) -> float:
        """Return how many seconds of running time should be between two checkpoints.

        The result grows with the time that a checkpoint takes, within fixed bounds.
        """
        return min(max(APART, SHARE * min(self._costs, default=0)), MOST_APART)

    def _pause(self) -> bool:
        if self.on_moment is not None and self.debuggee.device.cycle >= self._moment:
            self._moment = self.on_moment()
        return self.debuggee.interrupts.pending or perf_counter() >= self._deadline


def _impossible(edited: Checkpoint, cycle: int, error: Exception) -> str:
    """Return the message for an `error` of the emulator at `cycle`, after the edits of a point."""
    command = edited.edits[-1].command
    what = ": ".join(filter(None, (type(error).__name__, str(error).strip())))
    edit = f"the last edit, '{command}'," if command else "the last edit"
    return (
        f"the emulator fails at cycle {cycle:,} ({what}); "
        f"{edit} at cycle {edited.position[0]:,} may have made an impossible state"
    )


def width(core: Core) -> int:
    """Return the largest number of instructions that a core can execute in one cycle."""
    units = counts(core)
    return units[0] if units else 1
