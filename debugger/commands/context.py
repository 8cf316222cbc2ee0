"""The context of commands: their session, and the data that they store for later lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.formats import Format
from macaw.debugger.commands.user_commands import UserCommand
from macaw.debugger.layout import Arrangement

if TYPE_CHECKING:
    from macaw.debugger.commands.answers import Answer
    from macaw.debugger.commands.files import Files
    from macaw.debugger.counters import Counts
    from macaw.debugger.line_costs import LineCosts
    from macaw.debugger.session import Session

RunLines = Callable[[Iterable[str], str], Iterator[tuple[int, "Answer"]]]


@dataclass
class MemoryCursor:
    """The format and the address that the command `x` uses if its line does not give them."""

    form: Format = field(default_factory=Format)
    next: int | None = None  # the address after the memory that `x` has shown


@dataclass
class Displays:
    """The expressions that the command `display` has set, by number from 1.

    `rows` has the text and format of each one, `focus` the core or unit to which its short names
    refer. `last` is the greatest number so far.
    """

    rows: dict[int, tuple[str, Format]] = field(default_factory=dict)
    focus: dict[int, str] = field(default_factory=dict)
    disabled: set[int] = field(default_factory=set)  # numbers of displays that no stop shows
    last: int = 0

    def add(self, text: str, form: Format, focus: str) -> int:
        """Add an expression, whose names refer to `focus`, and return its number."""
        self.last += 1
        self.rows[self.last], self.focus[self.last] = (text, form), focus
        return self.last

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove displays by their numbers. If no display is left, numbers start at 1 again."""
        for number in numbers:
            del self.rows[number], self.focus[number]
            self.disabled.discard(number)
        self.last = self.last if self.rows else 0


@dataclass
class OtherRun:
    """The second of two runs that a user compares, and a function that executes a line in it.

    `name` is the name of the second run, `this_name` that of the first one.
    """

    session: Session
    execute: Callable[[str], Answer]
    name: str  # name of the other run, for headings
    this_name: str


@dataclass
class Context:
    """One session, with the data that commands keep from one line to the next."""

    session: Session
    files: Files
    allow_shell: bool  # whether `shell` and `python` are allowed
    run_lines: RunLines  # executes lines of a script: `macaw.debugger.commands.interpreter`
    # returns whether further lines, up to `end`, belong to a line
    opens_block: Callable[[str], bool]
    history: list[str] = field(default_factory=list)  # the lines that the user typed
    cursor: MemoryCursor = field(default_factory=MemoryCursor)
    displays: Displays = field(default_factory=Displays)
    # the screen's arrangement, if there is a screen
    arrangement: Arrangement = field(default_factory=Arrangement)
    costs: LineCosts | None = None  # what the last `annotate` has found
    counters: Counts = field(default_factory=dict)  # the counters at the last `info perf`
    list_position: tuple[str, int] | None = None  # for `list`: file, and the next line to show
    list_start: tuple[str, int] | None = None  # and the first line that it has shown
    frame: int = 0  # number of the call that `frame`, `up` or `down` has chosen; 0 is the innermost
    user_commands: dict[str, UserCommand] = field(default_factory=dict)
    # the names that `python` has defined
    python_names: dict[str, Any] = field(default_factory=dict)
    # with two runs: executes a line in this run only
    execute_here: Callable[[str], Answer] | None = None
    other: OtherRun | None = None  # the second of two runs that are compared
