"""The commands, one row each: help, completion and grammar derive from it.

A module that brings commands makes rows with `@command(...)` on what does them; a row's usage
is its grammar (`macaw.debugger.commands.usage`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.usage import Given, pieces

if TYPE_CHECKING:
    from macaw.debugger.commands.interpreter import Interpreter

# In the order in which `help` has them.
GROUPS = {
    "run": "run the program",
    "back": "go back",
    "stop": "stop where something happens",
    "look": "look at the state",
    "why": "ask for causes",
    "where": "choose cores",
    "data": "change and compare data",
    "screen": "arrange the screen",
    "rest": "scripts, help and the rest",
}


@dataclass(frozen=True)
class Line:
    """A command line that fits its usage: operands and words in their order."""

    command: Command
    given: tuple[Given, ...]
    suffix: str = ""  # what stands behind a slash: `4xw` of `x/4xw`
    text: str = ""  # the arguments
    offset: int = 0  # where they begin in the line

    def get(self, operand: str) -> str | None:
        """The text of an operand, None if it was left out."""
        return next((one.text for one in self.given if one.what == operand), None)

    def all(self, operand: str) -> list[str]:
        """The texts of an operand that may come several times."""
        return [one.text for one in self.given if one.what == operand]

    def has(self, word: str) -> bool:
        """Whether a word of the usage was given."""
        return any(one.what == "word" and one.text == word for one in self.given)

    @property
    def words(self) -> list[str]:
        """The words of the usage that were given."""
        return [one.text for one in self.given if one.what == "word"]

    def count(self, default: int = 1) -> int:
        """The number N. Raises `CommandError` unless it is 1 or more."""
        found = self.get("N")
        return default if found is None else number(found, 1)

    @property
    def whole(self) -> tuple[int, int]:
        """Where the arguments stand in the whole line."""
        return self.offset, self.offset + max(1, len(self.text))

    def place(self, operand: str) -> tuple[int, int]:
        """Where an operand stands in the whole line."""
        one = next((one for one in self.given if one.what == operand), None)
        begin, end = one.at if one is not None else (0, len(self.text))
        return begin + self.offset, end + self.offset


Act = Callable[["Interpreter", Line], Answer]


class CommandError(ValueError):
    """A command that cannot be done; the message is fit for a user."""

    def __init__(self, message: str, hint: str = "", at: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.hint = hint
        self.at = at  # in the whole line


@dataclass(frozen=True)
class Command:
    """A row: what a command is called, takes and does."""

    name: str
    group: str
    usage: str
    meaning: str
    act: Act
    aliases: tuple[str, ...] = ()
    suffix: str = ""  # what may stand behind a slash, as the help says it
    repeats: bool = False  # an empty line does it again
    alone: bool = False  # then without its operands: it goes on
    details: str = ""
    screen: bool = False  # it needs a screen

    @property
    def names(self) -> tuple[str, ...]:
        """All its names."""
        return (self.name, *self.aliases)


COMMANDS: dict[str, Command] = {}


def command(
    usage: str,
    group: str,
    meaning: str,
    *,
    aliases: Sequence[str] = (),
    suffix: str = "",
    repeats: bool = False,
    alone: bool = False,
    details: str = "",
    screen: bool = False,
) -> Callable[[Act], Act]:
    """Add a row for what it decorates; the name is the first word of the usage."""
    name = usage.split()[0]
    if name in COMMANDS or group not in GROUPS:
        raise ValueError(f"the command {name} is there, or {group} is no group")
    pieces(usage)

    def add(act: Act) -> Act:
        COMMANDS[name] = Command(
            name,
            group,
            usage,
            meaning,
            act,
            tuple(aliases),
            suffix,
            repeats,
            alone,
            details,
            screen,
        )
        return act

    return add


def meant(word: str) -> list[Command]:
    """The commands that a word may mean: the one that is called so, else those that begin so."""
    rows = COMMANDS.values()
    called = [row for row in rows if word in row.names]
    return called or [row for row in rows if row.name.startswith(word)]


def find(word: str) -> Command:
    """The command that a name, an alias or a unique prefix means. Raises `CommandError`."""
    found = meant(word)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(row.name for row in found)
        raise CommandError(f"'{word}' may be {names}")
    raise CommandError(f"no command is called '{word}'", _near(word))


def _near(word: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(word, COMMANDS, 1)
    return f"did you mean {near[0]}?" if near else "help lists them"


def number(text: str, low: int = 0, base: int = 0) -> int:
    """A number that a line gives; base 0: as Python writes them. Raises `CommandError`."""
    try:
        found = int(text, base)
    except ValueError:
        raise CommandError(f"'{text}' is no number") from None
    if found < low:
        raise CommandError(f"{found} is too small, {low} is the least")
    return found
