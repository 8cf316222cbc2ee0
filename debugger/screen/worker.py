"""The thread that executes command lines, and makes frames of what is there afterwards.

The session belongs to it. The screen's thread reads `frame`, `busy` and `progress`, which are
replaced as a whole and never changed, and asks by `submit`, `refresh` and `interrupt`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from queue import SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING

from macaw.debugger.frame import Frame, Written
from macaw.debugger.frame_builder import Gatherer

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter

APART = 0.1  # seconds between frames of a run that goes on
MOVING = ("output", "timeline")  # panels that follow a run


class Worker:
    """Runs the lines of one interpreter. `on_change` is called whenever there is more to show."""

    def __init__(
        self,
        interpreter: Interpreter,
        on_change: Callable[[], object],
        on_leave: Callable[[], object],
    ) -> None:
        self.interpreter = interpreter
        self.on_change = on_change
        self.on_leave = on_leave
        self.gatherer = Gatherer(interpreter, interpreter.arrangement)
        self.panels: tuple[str, ...] = ()  # that are visible
        self.busy = ""  # the line that is executed
        self.progress: tuple[str, int] | None = None  # what goes on, the cycle
        self._jobs: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._given = 0  # lines so far, counted by the screen's thread
        self._done = 0  # of these, by this thread
        self._dropped = 0  # those up to here are passed over
        self._next = 0.0
        self._thread = threading.Thread(target=self._work, name="session", daemon=True)
        session = interpreter.session
        session.on_output = self.gatherer.wrote
        session.runner.on_progress = self._went_on
        self.gatherer.stopped()
        self.frame: Frame = self.gatherer.frame(interpreter.arrangement.visible)

    @property
    def waiting(self) -> int:
        """Lines that are not done."""
        return self._given - self._done

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def stop(self, seconds: float = 5.0) -> None:
        """End what runs, and the thread."""
        self.drop()
        self._jobs.put(None)
        self.interrupt()
        self._thread.join(seconds)

    def submit(self, line: str, quiet: bool = False) -> None:
        """Execute a line when those before it are done.

        One that a key of a panel stands for is `quiet`: the output panel has only its errors.
        """
        self._given += 1
        number = self._given
        self._jobs.put(lambda: self._execute(line, number, quiet))

    def drop(self) -> None:
        """Forget the lines that have not begun."""
        self._dropped = self._given

    def show(self, panels: Iterable[str]) -> None:
        """These panels are visible: frames shall have their parts."""
        wanted = tuple(panels)
        if wanted != self.panels:
            self.panels = wanted
            if set(wanted) - set(self.frame.parts):
                self.refresh()

    def refresh(self) -> None:
        """Make a frame of the present once more."""
        self._jobs.put(self._renew)

    def note(self, lines: Iterable[str]) -> None:
        """Add lines to the output panel."""
        written = [Written("answer", line) for line in lines]

        def add() -> None:
            self.gatherer.log.extend(written)
            self._renew()

        self._jobs.put(add)

    def interrupt(self) -> None:
        """Stop what runs, or the command that is done."""
        self.interpreter.session.interrupt()

    # In the thread

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()
            self.on_change()

    def _execute(self, line: str, number: int, quiet: bool) -> None:
        leaves = False
        if number <= self._dropped:
            self._done += 1
            return
        self.interpreter.session.interrupts.take()  # of an earlier line
        self.busy = line.strip() or "repeat"
        self.on_change()
        try:
            if line.strip() and not quiet:
                self.gatherer.asked(line)
            run = self.interpreter
            answer = run.aside(line) if quiet else run.execute(line)
            if not quiet or answer.kind == "error":
                self.gatherer.answered(line, answer)
            leaves = answer.leaves
            if answer.kind == "stop" or self._moved():
                self.gatherer.stopped()
        except Exception as error:  # a fault of ours must not end the user's session
            self.gatherer.log.append(Written("error", f"error of the debugger: {error!r}"))
        finally:
            self.busy, self.progress = "", None
        self._renew()
        self._done += 1
        if leaves:
            self.on_leave()

    def _moved(self) -> bool:
        """Whether a script has run the program."""
        return self.interpreter.session.device.cycle != self.frame.cycle

    def _renew(self) -> None:
        try:
            self.frame = self.gatherer.frame(self.panels or self.interpreter.arrangement.visible)
        except Exception as error:  # rather an old frame than none
            self.gatherer.log.append(Written("error", f"error of the debugger: {error!r}"))

    def _went_on(self, what: str, cycle: int) -> None:
        now = monotonic()
        if now < self._next:
            return
        self._next = now + APART
        self.progress = what, cycle
        if what == "running":
            self.gatherer.moment()
            self.frame = self.gatherer.moved(self.frame, MOVING)
        self.on_change()
