"""The worker: executes command lines in a thread of its own, and builds a frame after each line.

Only this thread executes commands on the session. The screen's thread calls the public methods, and
reads `frame`, `busy` and `progress`. The worker never changes these three objects: it replaces
them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from macaw.debugger.frame import Frame
from macaw.debugger.frame_builder import FrameBuilder

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter

APART = 0.1  # time between frames during a run, in seconds
MOVING = ("output", "timeline")  # panels that are updated during a run


class Worker:
    """The thread that executes the lines of one interpreter.

    The worker calls `on_change` when the screen has something new to show, and `on_leave` when a
    command ends the debugger.
    """

    def __init__(
        self,
        interpreter: Interpreter,
        on_change: Callable[[], object],
        on_leave: Callable[[], object],
    ) -> None:
        self.interpreter = interpreter
        self.on_change = on_change
        self.on_leave = on_leave
        self.builder = FrameBuilder(interpreter, interpreter.arrangement)
        self.panels: tuple[str, ...] = ()  # the visible panels
        self.busy = ""  # the line that is being executed
        self.progress: tuple[str, int] | None = None  # "running", "replaying", ...; and the cycle
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        # number of the last submitted line; only the screen's thread changes it
        self._last_submitted = 0
        self._last_finished = 0  # number of the last finished line; only this thread changes it
        self._drop_limit = 0  # lines up to this number are dropped
        self._next = 0.0
        self._thread = threading.Thread(target=self._work, name="session", daemon=True)
        session = interpreter.session
        session.on_output = self.builder.add_output
        session.on_progress = self._on_progress
        self.builder.note_stop()
        self.frame: Frame = self.builder.frame(interpreter.arrangement.visible)

    @property
    def waiting(self) -> int:
        """The number of submitted lines whose execution has not ended."""
        return self._last_submitted - self._last_finished

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """Stop the present run or command and end the thread; wait for it at most `seconds`."""
        self.drop()
        self._jobs.put(None)
        self.interrupt()
        self._thread.join(seconds)

    def submit(self, line: str | Callable[[], str], quiet: bool = False) -> None:
        """Request the execution of a line, after all earlier requests.

        `line` may be a function that returns the line from the state after earlier lines. The
        worker's thread calls the function, so the function may read the session.

        If `quiet` is true, the output panel shows nothing of the line except an error. Keys that
        change panels use this.
        """
        self._last_submitted += 1
        number = self._last_submitted
        self._jobs.put(lambda: self._execute(line, number, quiet))

    def drop(self) -> None:
        """Drop the submitted lines that have not started."""
        self._drop_limit = self._last_submitted

    def show(self, panels: Iterable[str]) -> None:
        """Set the visible panels, whose parts the next frames contain.

        If the present frame lacks one of these parts, request a new frame.
        """
        names = tuple(panels)
        if names != self.panels:
            self.panels = names
            if set(names) - set(self.frame.parts):
                self.refresh()

    def refresh(self) -> None:
        """Request a new frame. The worker's thread builds it after all earlier requests."""
        self._jobs.put(self._renew)

    def note(self, lines: Iterable[str]) -> None:
        """Request that the output panel shows lines, like the answer to a command."""
        rows = list(lines)

        def add() -> None:
            self.builder.add_text("answer", rows)
            self._renew()

        self._jobs.put(add)

    def end_input(self) -> None:
        """Request that the open lines of a command are dropped.

        These are the lines of a command such as `define` for which no `end` was submitted.
        """

        def end() -> None:
            self.interpreter.end_input()

        self._jobs.put(end)

    def interrupt(self) -> None:
        """Request that the present run or command stops."""
        self.interpreter.session.interrupt()

    # In the worker's thread

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            self.on_change()

    def _execute(self, wanted: str | Callable[[], str], number: int, quiet: bool) -> None:
        leaves = False
        # Take back a request to stop an earlier line. If the request was for this line, the line is
        # dropped below, because the screen drops lines before it requests a stop.
        self.interpreter.session.interrupts.take()
        if number <= self._drop_limit:
            self._last_finished += 1
            return
        try:
            line = wanted if isinstance(wanted, str) else wanted()
            self.busy = line.strip() or "repeat"
            self.on_change()
            if line.strip() and not quiet:
                self.builder.add_command(line)
            run = self.interpreter
            answer = run.aside(line) if quiet else run.execute(line)
            if not quiet or answer.kind == "error":
                self.builder.add_answer(line, answer)
            leaves = answer.leaves
            if answer.kind == "stop" or self._has_run():
                self.builder.note_stop()
        except Exception as error:  # an error of the debugger must not end the user's session
            self._report(error)
        finally:
            self.busy, self.progress = "", None
        self._renew()
        self._last_finished += 1
        if leaves:
            self.on_leave()

    def _has_run(self) -> bool:
        """Return whether the device is at another cycle than the frame: a script has run it."""
        return self.interpreter.session.device.cycle != self.frame.cycle

    def _renew(self) -> None:
        try:
            self.frame = self.builder.frame(self.panels or self.interpreter.arrangement.visible)
        except Exception as error:  # the last frame stays visible
            self._report(error)

    def _report(self, error: Exception) -> None:
        """Add an unexpected error, which is a bug of the debugger itself, to the output panel."""
        self.builder.add_text("error", [f"error of the debugger: {error!r}"])

    def _on_progress(self, what: str, cycle: int) -> None:
        now = monotonic()
        if now < self._next:
            return
        self._next = now + APART
        self.progress = what, cycle
        if what == "running":
            self.builder.note_moment()
            self.frame = self.builder.update(self.frame, MOVING)
        self.on_change()
