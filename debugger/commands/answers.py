"""Declares the answer to a command: one record for the screen, for scripts and for JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from macaw.debugger.frame import visible
from macaw.debugger.stops import StopRecord, plain

VALUE = ("", "value")  # the columns of a table of values
DISPLAY = ("", "display", "value")  # the columns of a table of displays
Cell = Any  # a plain value: text, a number, a truth value, None
LONGEST = 400  # the greatest length of an error's text, in characters
MOST_ANSWERS = 1000  # the greatest number of answers in an answer; of more, the last ones remain


@dataclass(frozen=True)
class Mark:
    """The piece of a command line that an error is about: characters `begin` up to `end`."""

    begin: int
    end: int


@dataclass(frozen=True)
class Answer:
    """The answer to one command. Its JSON leaves out empty fields.

    `kind` says which other fields are set:

    - "stop", after a run of the program: `stopped`
    - "table": `columns`, `rows`; perhaps `lines` below the table
    - "text": `lines`; `data` has the same content as a record
    - "done": `lines`
    - "error": `message`, `mark`, `hint`; for a script, `answers` has the answers to earlier lines

    `leaves` says that the command ends the debugger, `differs` that `diff` found a difference, and
    `silent` that the text of the answer leaves `stopped` out. If a user compares two runs,
    `is_of_both` says that the answer is about both of them. If their answers differ, `run` names
    the run that gave this answer.
    """

    kind: str
    command: str = ""  # the command's full name
    message: str = ""
    hint: str = ""
    mark: Mark | None = None
    stopped: StopRecord | None = None
    title: str = ""
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    lines: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()  # answers of displays, lines of a script, commands of points
    data: Any = None  # the content of `lines` as a record, for JSON
    leaves: bool = False  # whether the debugger ends
    differs: bool = False  # whether `diff` found a difference
    silent: bool = False  # whether a text leaves `stopped` out
    is_of_both: bool = False  # with two runs side by side: whether the answer is about both
    # with two runs side by side: the run that this answer is from, if the answers differ
    run: str = ""

    def json(self) -> dict[str, Any]:
        """Return the answer as values for JSON."""
        record: dict[str, Any] = plain(self)
        return record

    @property
    def finds_differences(self) -> bool:
        """Whether this answer, or one in `answers`, found a difference."""
        return self.differs or any(answer.finds_differences for answer in self.answers)

    @property
    def has_failed(self) -> bool:
        """Whether this answer, or one in `answers`, is an error."""
        return self.kind == "error" or any(answer.has_failed for answer in self.answers)

    @property
    def was_interrupted(self) -> bool:
        """Whether the user's request to stop has ended the run that the command started."""
        own = self.stopped is not None and self.stopped.reason == "interrupt"
        return own or any(answer.was_interrupted for answer in self.answers)

    @property
    def last_run(self) -> Answer | None:
        """The answer to the last run of the program: this answer, one in `answers`, or None."""
        for answer in reversed(self.answers):
            if (found := answer.last_run) is not None:
                return found
        return self if self.kind == "stop" else None

    def silenced(self) -> Answer:
        """Return the same answer, but without the stop of the last run and without its displays."""
        for at in reversed(range(len(self.answers))):
            answer = self.answers[at]
            if answer.last_run is not None:
                others = self.answers[:at], self.answers[at + 1 :]
                return replace(self, answers=(*others[0], answer.silenced(), *others[1]))
        return replace(self, silent=True, answers=())

    def of(self, command: str) -> Answer:
        """Return the same answer with `command` as the name of its command."""
        return replace(self, command=command)


def message(*lines: str) -> Answer:
    """Return an answer of kind "done", whose lines confirm what was done."""
    return Answer("done", lines=lines)


def text(lines: Iterable[str], title: str = "") -> Answer:
    """Return an answer of kind "text"."""
    return Answer("text", title=title, lines=tuple(lines))


def table(columns: Sequence[str], rows: Iterable[Sequence[Cell]], title: str = "") -> Answer:
    """Return an answer of kind "table"; each row has one cell for each column."""
    return Answer("table", title=title, columns=tuple(columns), rows=tuple(map(tuple, rows)))


def stop(record: StopRecord) -> Answer:
    """Return an answer of kind "stop"."""
    return Answer("stop", stopped=record)


def error(message: str, mark: Mark | None = None, hint: str = "") -> Answer:
    """Return an answer of kind "error".

    `mark` is the piece of the line that the error is about. Control characters in the texts are
    replaced, and long texts are shortened.
    """
    return Answer("error", message=_sentence(message), mark=mark, hint=_sentence(hint))


def _sentence(text: str) -> str:
    text = visible(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 100]} ... {text[-90:]}"
