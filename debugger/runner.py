"""Drives the device of a session: in slices, with checkpoints, until somebody interrupts."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from time import perf_counter, thread_time
from types import MappingProxyType
from typing import TYPE_CHECKING

from macaw.debugger.history import START, Edit, Position
from macaw.debugger.places import counts
from macaw.debugger.stops import SessionError
from macaw.emu.faults import Stop

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.debugger.watching import Test
    from macaw.emu.core import Core

SLICE = 0.02  # seconds after which a run looks up
APART = 0.04  # seconds of CPU time between checkpoints at least
MOST_APART = 0.12  # and at most: what a step back may have to run again
SHARE = 16  # a checkpoint may cost this part of the run since the last one
BULK = 64  # instructions that are left to be stepped one by one


class Runner:
    """Runs of one session. Only `interrupt` may be called from another thread."""

    def __init__(
        self, session: Session, on_progress: Callable[[str, int], object] | None = None
    ) -> None:
        self.session = session
        self.on_progress = on_progress
        self.replays = False  # what happens has happened before
        self._asked = threading.Event()
        self._foreign: int | None = None  # the thread that does code of the user's
        self._due = 0.0
        self._ran = 0.0  # seconds since the last checkpoint
        self._costs: list[float] = []  # seconds that the last ones took; the least counts
        self._what = "running"

    def interrupt(self) -> None:
        """Let the present run or command stop soon; without one, the next."""
        self._asked.set()
        thread = self._foreign
        if thread is not None and self.session.device.pause is None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
            )

    @contextmanager
    def foreign(self) -> Iterator[None]:
        """Inside, code of the user's is done: an interrupt raises `KeyboardInterrupt` there."""
        self._foreign = threading.get_ident()
        try:
            yield
        finally:
            self._foreign = None

    def asked(self) -> bool:
        """Whether somebody has asked to stop; it is answered with that."""
        found = self._asked.is_set()
        self._asked.clear()
        return found

    def check(self) -> None:
        """Raise `SessionError` if somebody has asked to stop: for work that is no run.

        A run ends between acts by itself; conditions inside one must not break it off.
        """
        if self.session.device.pause is None and self.asked():
            raise SessionError("interrupted")

    def forward(self, until: Position | None = None) -> Stop:
        """Run until something stops the device, or to a position. No points are armed."""
        device = self.session.device
        if until is None:
            return self._drive(device.run)
        return self._drive(partial(device.run, until=until[0], turn=until[1]))

    def live(
        self,
        act: Callable[[], Stop],
        extra: Iterable[str] = (),
        goals: Mapping[str, Mapping[int, Test]] = MappingProxyType({}),
    ) -> Stop:
        """Run something with all points at work; see `Watching.arm`."""
        session = self.session
        session.history.forget_edits(session.device.position)
        session.choose_engine()
        has_ended = session.device.stopped is not None
        session.watching.arm(extra, goals)
        try:
            stop = act()
            if not has_ended:
                session.watching.ended(stop)
            return stop
        finally:
            session.watching.rest()

    def step(self, name: str, count: int, until: Position | None = None) -> Stop:
        """Run until a core has done `count` more instructions, or has come to a position."""
        device = self.session.device
        core = device.cores[name]
        goal = core.retired + count
        each = width(core)
        cycle, turn = until or (None, 0)
        while core.retired < goal - BULK:
            # A core does no more than one instruction a cycle and unit.
            ahead = device.cycle + (goal - core.retired) // each
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

    def travel(self, goal: Position) -> Stop | None:
        """Go to a position, by way of a checkpoint if it lies before. None: it was there."""
        session = self.session
        point, here = session.history.before(goal), session.device.position
        if goal < here or point.position > here or (point.edited and point.position == here):
            self.rewind(goal)
        if session.device.position >= goal:
            return None
        with self.replaying():
            session.watching.disarm()
            return self.forward(goal)

    @contextmanager
    def replaying(self) -> Iterator[None]:
        """What runs inside has happened before."""
        self.replays, self._what = True, "replaying"
        try:
            yield
        finally:
            self.replays, self._what = False, "running"

    def rewind(self, goal: Position) -> None:
        """Back to the last checkpoint at or before a position."""
        session = self.session
        point = session.history.before(max(goal, START))
        session.watching.disarm()
        session.device.restore(point.snapshot)
        session.output[:] = [item for item in session.output if item[0] <= point.position]
        self._ran = 0.0

    def _drive(self, act: Callable[[], Stop]) -> Stop:
        """Let the device go on until it stops for a reason of its own or somebody interrupts."""
        session = self.session
        device = session.device
        device.pause = self._pause
        try:
            while True:
                begin = thread_time()
                self._due = perf_counter() + SLICE
                stop = act()
                self._ran += thread_time() - begin
                if self._ran >= self._apart():
                    self.checkpoint()
                if stop.reason != "interrupt":
                    return stop
                if self._asked.is_set():
                    self._asked.clear()
                    return stop
                if self.on_progress is not None:
                    self.on_progress(self._what, device.cycle)
        finally:
            device.pause = None

    def _apart(self) -> float:
        """Seconds of running from a checkpoint to the next."""
        return min(max(APART, SHARE * min(self._costs, default=0)), MOST_APART)

    def _pause(self) -> bool:
        return self._asked.is_set() or perf_counter() >= self._due

    def checkpoint(self, edit: Edit | None = None, name: int | None = None) -> int:
        """Keep the present; the number of one that is named. See `History.take`."""
        begin = thread_time()
        point = self.session.history.take(self.session.device, self._ran, edit, name)
        self._costs, self._ran = [*self._costs[-2:], thread_time() - begin], 0.0
        return point.name


def width(core: Core) -> int:
    """How many instructions a core may do in a cycle at most."""
    units = counts(core)
    return units[0] if units else 1
