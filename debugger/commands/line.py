"""Declares a parsed command line with its operands and words, and the error of a command."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from macaw.debugger.commands.usage import Argument

MOST_IN_RANGE = 1000  # the greatest number of points or displays that one operand names


class CommandError(ValueError):
    """Raised if a command cannot be executed; the message is for the user."""

    def __init__(self, message: str, hint: str = "", at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.at = at  # characters of the whole line: first, end (excluded)


@dataclass(frozen=True)
class Line:
    """A command line that matches the usage of its command: its operands and words, in order.

    `text` has the arguments as the user typed them; they start at `offset` in the line. `suffix` is
    the text after a slash: `4xw` in `x/4xw`. For a command with a body, `body` has the lines up to
    `end`. The field `end` is the white space that followed the line.
    """

    command: str  # the command's whole name
    arguments: tuple[Argument, ...]
    suffix: str = ""
    text: str = ""
    offset: int = 0
    body: tuple[str, ...] = ()
    end: str = ""

    def get(self, operand: str) -> str | None:
        """Return the text of the operand with this name, or None if the line does not have it."""
        return next((one.text for one in self.arguments if one.what == operand), None)

    def all(self, operand: str) -> list[str]:
        """Return all texts of the operand with this name, which may occur several times."""
        return [one.text for one in self.arguments if one.what == operand]

    def has(self, word: str) -> bool:
        """Return whether the line has this literal word of the usage."""
        return word in self.words

    @property
    def words(self) -> list[str]:
        """The literal words of the usage that are in the line."""
        return self.all("word")

    def count(self, default: int = 1) -> int:
        """Return the number in operand N, or `default` if the line does not have this operand.

        Raises `CommandError` if the number is less than 1.
        """
        text = self.get("N")
        return default if text is None else parse_number(text, 1)

    @property
    def whole(self) -> tuple[int, int]:
        """The range (start, end) of all arguments, in characters of the line."""
        return self.offset, self.offset + max(1, len(self.text))

    def place(self, operand: str) -> tuple[int, int]:
        """Return the range (start, end) of an operand, in characters of the line.

        If the line does not have the operand, return the range of all arguments.
        """
        one = next((one for one in self.arguments if one.what == operand), None)
        begin, end = one.at if one is not None else (0, len(self.text))
        return begin + self.offset, end + self.offset


def parse_number(text: str, low: int = 0, base: int = 0) -> int:
    """Return the number in `text`. Raises `CommandError` if it is less than `low`, or no number.

    `base` is the base of the number; 0 allows every notation of Python, such as 0x10.
    """
    try:
        value = int(text, base)
    except ValueError:
        raise CommandError(f"'{text}' is no number") from None
    if value < low:
        raise CommandError(f"{value} is too small, {low} is the least")
    return value


def parse_ranges(texts: Iterable[str], what: str) -> list[int]:
    """Return the numbers, from 1 on, that texts such as `3` and `3-5` denote, in their order.

    Raises `CommandError` for a range of more than `MOST_IN_RANGE` numbers; it says `what` they are.
    """
    numbers: list[int] = []
    for text in texts:
        first, dash, last = text.partition("-")
        low = parse_number(first, 1)
        high = parse_number(last, low) if dash else low
        if high - low >= MOST_IN_RANGE:
            raise CommandError(f"{text} is too many {what}")
        numbers += range(low, high + 1)
    return numbers
