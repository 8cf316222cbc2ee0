"""Types keys at the debugger's screen and reads what it shows, on a simulated terminal."""

from __future__ import annotations

import threading
import time

from prompt_toolkit.data_structures import Size
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.screen.application import Screen
from macaw.debugger.views.area import UNICODE
from macaw.debugging import DebuggerFiles

PATIENCE = 12  # seconds for what takes some milliseconds


class Sized(DummyOutput):
    """A terminal of a certain size that shows nothing."""

    def __init__(self, width, height):
        self.size = Size(rows=height, columns=width)

    def get_size(self):
        return self.size


class Typist:
    """Types, and waits for texts on the screen; runs beside the application.

    `play` raises exceptions of the application, for which a user would see a traceback.
    """

    def __init__(
        self,
        session=None,
        size=(80, 24),
        signs=UNICODE,
        lines=(),
        keep=None,
        history=None,
        interpreter=None,
    ):
        self.interpreter = interpreter or Interpreter(session, DebuggerFiles())
        self.output = Sized(*size)
        self.signs, self.lines, self.keep, self.history = signs, lines, keep, history
        self.failure = None

    def play(self, act):
        """Run the screen while `act(self)` types; the screen ends when `act` ends."""
        with create_pipe_input() as pipe:
            self.pipe = pipe
            self.screen = Screen(
                self.interpreter,
                signs=self.signs,
                keep=self.keep,
                history=self.history,
                terminal_input=pipe,
                terminal_output=self.output,
            )
            self.screen.app._handle_exception = self._failed  # type: ignore[method-assign]
            thread = threading.Thread(target=self._played, args=(act,), daemon=True)
            thread.start()
            self.screen.run(self.lines)
            thread.join(PATIENCE)
        if self.failure is not None:
            raise self.failure
        return self

    def _played(self, act):
        try:
            self.until("F1 help")
            act(self)
        except BaseException as failure:
            self.failure = self.failure or failure
        finally:
            self.screen.worker.interrupt()
            loop = self.screen.app.loop
            if loop is not None:
                loop.call_soon_threadsafe(self.screen._exit)

    def _failed(self, loop, context):
        found = context.get("exception") or RuntimeError(context["message"])
        self.failure = self.failure or found

    def type(self, text):
        self.pipe.send_text(text)

    def resize(self, width, height):
        """Give the terminal another size."""
        self.output.size = Size(rows=height, columns=width)
        loop = self.screen.app.loop
        assert loop is not None
        loop.call_soon_threadsafe(self.screen.app._on_resize)

    def rows(self):
        shown = self.screen.app.renderer.last_rendered_screen
        if shown is None:
            return [""]
        width, height = self.output.size.columns, self.output.size.rows
        return ["".join(shown.data_buffer[y][x].char for x in range(width)) for y in range(height)]

    def until(self, *texts):
        """Wait until all texts are on the screen; return its text."""
        return self.wait(lambda seen: all(text in seen for text in texts), texts)

    def wait(self, holds, what="it", seconds=PATIENCE):
        """Wait until `holds` is true for the screen's text; return the text."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.failure is None:
            try:
                seen = "\n".join(self.rows())
            except RuntimeError:  # it is drawn just now
                continue
            if holds(seen):
                return seen
            time.sleep(0.01)
        raise self.failure or AssertionError(f"{what} never came, but\n{seen}")

    @property
    def log(self):
        return [written.text for written in self.screen.worker.builder.log]
