"""Run a session from stop to stop."""

from __future__ import annotations

from typing import Protocol

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.stops import Where
from macaw.debugging import DebuggerFiles


def stops_until_exit(debug, most=100):
    """What it says on its way to the end, while it is there."""
    for _ in range(most):
        stop = debug.cont()
        yield stop
        if stop.reason == "exit":
            return


def all_stops(debug, most=100):
    """All that it says."""
    return list(stops_until_exit(debug, most))


class Placed(Protocol):
    """What has a place in the program: a stop, a cause, a row of stalls."""

    @property
    def where(self) -> Where | None: ...


def place_of(found: Placed) -> Where:
    """The place; fail if there is none."""
    assert found.where is not None
    return found.where


def printed(debug, line: str) -> str:
    """What the prompt of `macaw debug` prints for a line."""
    return answer_text(Interpreter(debug, DebuggerFiles()).execute(line), line)
