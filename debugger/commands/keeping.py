"""What commands keep from one line to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.formats import Format, shown
from macaw.debugger.commands.table import CommandError
from macaw.debugger.commands.values import printed, symbol_at
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.places import PlaceError
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter


@dataclass
class Looked:
    """What `x` has looked at last."""

    form: Format = field(default_factory=Format)
    next: int | None = None  # the address behind it


@dataclass
class Displays:
    """What is shown after each stop."""

    rows: dict[int, tuple[str, Format]] = field(default_factory=dict)
    focus: dict[int, str] = field(default_factory=dict)  # the one that each was asked for under
    last: int = 0

    def add(self, text: str, form: Format, focus: str) -> int:
        """Show one more; its number."""
        self.last += 1
        self.rows[self.last], self.focus[self.last] = (text, form), focus
        return self.last

    def remove(self, numbers: Iterable[int]) -> None:
        """Show these no more. With none left, numbers begin at 1 again."""
        for number in numbers:
            del self.rows[number], self.focus[number]
        self.last = self.last if self.rows else 0

    def shown(self, interpreter: Interpreter) -> tuple[Answer, ...]:
        """All of them as they are now."""
        rows = [(number, *self._row(interpreter, number)) for number in self.rows]
        return (answers.table(answers.DISPLAY, rows),) if rows else ()

    def _row(self, interpreter: Interpreter, number: int) -> tuple[str, Any]:
        text, form = self.rows[number]
        try:
            session = interpreter.session
            value = printed(session, session.expression(text))
            return text, shown(value, form, naming(interpreter))
        except (ExpressionError, PlaceError, CommandError, SessionError) as error:
            return text, f"({error})"


def naming(interpreter: Interpreter) -> Callable[[int], str]:
    """Names of addresses, for formats."""
    return lambda place: symbol_at(interpreter.session, place)
