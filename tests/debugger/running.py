"""Run a session from stop to stop."""

from __future__ import annotations

from typing import Protocol

from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.text import answer_text
from macaw.debugger.stops import Where
from macaw.debugging import DebuggerFiles


def stops_until_exit(debug, most=100):
    """Continue up to `most` times; yield each stop, and end after the exit."""
    for _ in range(most):
        stop = debug.cont()
        yield stop
        if stop.reason == "exit":
            return


def all_stops(debug, most=100):
    """The list of all stops up to the exit."""
    return list(stops_until_exit(debug, most))


class Placed(Protocol):
    """An object that may have a place in the program: a stop, a cause, a row of stalls."""

    @property
    def where(self) -> Where | None: ...


def place_of(found: Placed) -> Where:
    """The place of an object; fails if it has none."""
    assert found.where is not None
    return found.where


def printed(debug, line: str) -> str:
    """The output of `macaw debug`'s prompt for a line."""
    return answer_text(Interpreter(debug, DebuggerFiles()).execute(line), line)
