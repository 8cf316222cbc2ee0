"""A parsed command line: operands and words; the errors of commands."""

from __future__ import annotations

from dataclasses import dataclass

from macaw.debugger.commands.usage import Argument


class CommandError(ValueError):
    """A command that cannot be executed; the message is fit for a user."""

    def __init__(self, message: str, hint: str = "", at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.at = at  # characters of the whole line: first, end


@dataclass(frozen=True)
class Line:
    """A command line that fits its usage: operands and words in their order."""

    command: str  # its whole name
    arguments: tuple[Argument, ...]
    suffix: str = ""  # what stands after a slash: `4xw` of `x/4xw`
    text: str = ""  # the arguments as they were typed
    offset: int = 0  # where they start in the line

    def get(self, operand: str) -> str | None:
        """The text of an operand, None if it was left out."""
        return next((one.text for one in self.arguments if one.what == operand), None)

    def all(self, operand: str) -> list[str]:
        """The texts of an operand that may come several times."""
        return [one.text for one in self.arguments if one.what == operand]

    def has(self, word: str) -> bool:
        """Whether the line has a word of the usage."""
        return word in self.words

    @property
    def words(self) -> list[str]:
        """The words of the usage that the line has."""
        return self.all("word")

    def count(self, default: int = 1) -> int:
        """The operand N, or `default` if the line has none. Raises `CommandError` below 1."""
        text = self.get("N")
        return default if text is None else parse_number(text, 1)

    @property
    def whole(self) -> tuple[int, int]:
        """The place of the arguments in the whole line: first character, end."""
        return self.offset, self.offset + max(1, len(self.text))

    def place(self, operand: str) -> tuple[int, int]:
        """The place of an operand in the whole line: first character, end."""
        one = next((one for one in self.arguments if one.what == operand), None)
        begin, end = one.at if one is not None else (0, len(self.text))
        return begin + self.offset, end + self.offset


def parse_number(text: str, low: int = 0, base: int = 0) -> int:
    """A number of a line, `low` at least; base 0: as Python writes them. Raises `CommandError`."""
    try:
        value = int(text, base)
    except ValueError:
        raise CommandError(f"'{text}' is no number") from None
    if value < low:
        raise CommandError(f"{value} is too small, {low} is the least")
    return value
