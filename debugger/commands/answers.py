"""What a command answers: one record for the screen, for scripts and for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from macaw.debugger.frame import visible
from macaw.debugger.stops import Stopped, plain

VALUE = ("", "value")  # the columns of a value by its name
DISPLAY = ("", "display", "value")  # and of displays, by their numbers
Cell = Any  # a plain value: text, a number, a truth value, None
LONGEST = 400  # characters of an error


@dataclass(frozen=True)
class Mark:
    """Where in a command line something is wrong, in characters."""

    begin: int
    end: int


@dataclass(frozen=True)
class Answer:
    """What one command has done or found. Empty parts are left out of its JSON.

    `kind` is "stop" (the program has run: `stopped`), "table" (`columns`, `rows`), "text"
    (`lines`; `data` the same as a record, if it has one), "done" (`lines` say what), or "error"
    (`message`, `mark`, `hint`; `answers` are those of a script's lines before it).
    """

    kind: str
    command: str = ""  # its whole name
    message: str = ""
    hint: str = ""
    mark: Mark | None = None
    stopped: Stopped | None = None
    title: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    lines: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()  # of what came with it: displays, commands of a point
    data: Any = None  # a record with all of it, for JSON
    leaves: bool = False  # the debugger shall end
    differs: bool = False  # a value is not what it should be; others may still be asked

    def json(self) -> dict[str, Any]:
        """The record of JSON types."""
        found: dict[str, Any] = plain(self)
        return found

    @property
    def finds_differences(self) -> bool:
        """Whether it, or what came with it, differs."""
        return self.differs or any(answer.finds_differences for answer in self.answers)

    @property
    def interrupted(self) -> bool:
        """Whether somebody has stopped what it ran."""
        own = self.stopped is not None and self.stopped.reason == "interrupt"
        return own or any(answer.interrupted for answer in self.answers)

    def of(self, command: str) -> Answer:
        """The same, as what `command` answers."""
        return replace(self, command=command)


def done(*lines: str) -> Answer:
    """Something was done."""
    return Answer("done", lines=lines)


def text(lines: Iterable[str], title: str = "") -> Answer:
    """Lines to read."""
    return Answer("text", title=title, lines=tuple(lines))


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "") -> Answer:
    """Rows below names of columns."""
    return Answer("table", title=title, columns=tuple(columns), rows=tuple(map(tuple, rows)))


def stop(stopped: Stopped) -> Answer:
    """The program has run, and stands."""
    return Answer("stop", stopped=stopped)


def error(message: str, mark: Mark | None = None, hint: str = "") -> Answer:
    """The command could not do it. What it quotes is made visible, and cut where it is long."""
    return Answer("error", message=_sentence(message), mark=mark, hint=_sentence(hint))


def _sentence(text: str) -> str:
    text = visible(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 100]} ... {text[-90:]}"
