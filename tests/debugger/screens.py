"""Draws screens of the debugger as text."""

from __future__ import annotations

from pathlib import Path

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.frame_builder import FrameBuilder
from macaw.debugger.views.area import UNICODE
from macaw.debugger.views.composer import Composer
from macaw.debugging import DebuggerFiles

GOLDENS = Path(__file__).parent / "screens"


class Screen:
    """An interpreter whose panels are drawn without a terminal."""

    def __init__(self, session, signs=UNICODE, interpreter=None):
        self.interpreter = interpreter or Interpreter(session, DebuggerFiles())
        self.arrangement = self.interpreter.arrangement
        self.builder = FrameBuilder(self.interpreter, self.arrangement)
        self.composer = Composer(self.arrangement, signs)
        self.interpreter.session.on_output = self.builder.add_output
        self.builder.note_stop()
        self.frame(200, 50)

    def do(self, *lines, size=(200, 50)):
        """Execute lines as the screen does; compute the visible panels after each."""
        answer = None
        for line in lines:
            self.builder.add_command(line)
            answer = self.interpreter.execute(line)
            self.builder.add_answer(line, answer)
            if answer.kind == "stop":
                self.builder.note_stop()
            self.frame(*size)
        return answer

    def frame(self, width, height):
        return self.builder.frame(self.composer.panels(width, height))

    def text(self, width, height):
        return self.composer.text(self.frame(width, height), width, height)

    def rows(self, width, height):
        return self.composer.rows(self.frame(width, height), width, height)


SCREEN_SIZES = ((80, 24), (120, 40), (200, 50), (50, 12))

SCREEN_STORIES = {
    "pe": (
        "six_cores",
        ["stepc 1380", "focus pe[0,1].2", "stepc 40", "display acc0", "stepc 20"],
    ),
    "cp": ("hello", ["stepi 3", "print nothing", "x/8xw text", "print/x a0", "continue"]),
    "vc": ("vector_dot", ["stepc 100", "focus vc", "stepi 3", "display x5", "stepi"]),
}

MORE_STORIES = {  # of which there are goldens of the panels alone
    "first": ("digits_mlp", []),
    "rows": (
        "digits_mlp",
        ["stepc 1300", "focus pe[1,0].3", "stepc 300", "display acc0", "stepc 20"],
    ),
    "why": ("layer", ["continue", "why y[3] depth 3"]),
    "island": ("fim_mlp", ["stepc 1300", "focus fim[0,1]"]),
}
