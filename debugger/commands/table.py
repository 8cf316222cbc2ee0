"""The table of commands, from whose rows help, completion and grammar follow.

The decorator `@command(...)` on the function that executes a command adds the command's row. The
usage in the row is the grammar of its operands (`macaw.debugger.commands.usage`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING

from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.usage import pieces

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

# The groups of commands, in the order of `help`.
GROUPS = {
    "run": "run the program",
    "back": "go back",
    "stop": "stop where something happens",
    "look": "look at the state",
    "why": "ask for causes",
    "where": "choose cores",
    "data": "change and compare data",
    "screen": "arrange the screen",
    "two": "compare two runs side by side",
    "rest": "scripts, help and the rest",
}
# groups whose commands work on both runs
BOTH = frozenset({"run", "back", "stop", "look", "why", "where"})


Act = Callable[["Context", Line], Answer]  # executes the command; raises `CommandError`
Check = Callable[["Context", Line], object]  # checks a line; raises `CommandError`


@dataclass(frozen=True)
class Command:
    """A row of the table: a command's names, grammar, help and function (`act`).

    If `repeats` is true, an empty line repeats the command. If `alone` is true, too, it repeats the
    command without the operands, so that the command continues where it ended. If `body` is true,
    lines up to `end` follow the command; `check` then refuses a wrong line before its body is read.
    """

    name: str
    group: str
    usage: str
    meaning: str
    act: Act
    aliases: tuple[str, ...] = ()
    suffix: str = ""  # describes what may follow a slash, for the help
    repeats: bool = False
    alone: bool = False
    details: str = ""
    body: bool = False  # unless the line has an operand TEXT
    check: Check | None = None

    @property
    def is_for_both(self) -> bool:
        """Whether the command works on both of two runs when the user names neither of them."""
        return self.group in BOTH

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the command and its aliases."""
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
    body: bool = False,
    check: Check | None = None,
) -> Callable[[Act], Act]:
    """Return a decorator that adds a command to the table; its name begins the usage line.

    The parameters are fields of `Command`; the decorated function executes the command.
    """
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
            body,
            check,
        )
        return act

    return add


def candidates(word: str) -> list[Command]:
    """Return the command with the name or alias `word`; else all commands that begin with it."""
    rows = COMMANDS.values()
    exact = [row for row in rows if word in row.names]
    return exact or [row for row in rows if row.name.startswith(word)]


def find(word: str) -> Command:
    """Return the command with the name or alias `word`, or the only one whose name begins with it.

    Raises `CommandError`.
    """
    rows = candidates(word)
    if len(rows) == 1:
        return rows[0]
    if rows:
        names = ", ".join(row.name for row in rows)
        raise CommandError(f"'{word}' may be {names}")
    raise CommandError(f"no command is called '{word}'", _near(word))


def _near(word: str) -> str:
    near = get_close_matches(word, COMMANDS, 1)
    return f"did you mean {near[0]}?" if near else "help lists them"


def split(text: str) -> tuple[str, str, int]:
    """Return (command word, text after its slash, offset of the arguments) of a line."""
    head = text.split(None, 1)[0] if text.split() else ""
    begin = text.find(head) if head else 0
    word, slash, suffix = head.partition("/")
    end = begin + len(head)
    while end < len(text) and text[end].isspace():
        end += 1
    return word, suffix if slash else "", end
