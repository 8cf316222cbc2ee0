"""What the commands work on, and what they remember from one line to the next."""

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
    from macaw.debugger.session import Session

RunLines = Callable[[Iterable[str], str], Iterator[tuple[int, "Answer"]]]


@dataclass
class MemoryCursor:
    """The format and the address with which `x` continues when it gets no address."""

    form: Format = field(default_factory=Format)
    next: int | None = None  # the address after what it has shown


@dataclass
class Displays:
    """The expressions of `display`, by number from 1."""

    rows: dict[int, tuple[str, Format]] = field(default_factory=dict)
    focus: dict[int, str] = field(default_factory=dict)  # in which each was set
    disabled: set[int] = field(default_factory=set)  # those that no stop shows
    last: int = 0

    def add(self, text: str, form: Format, focus: str) -> int:
        """Add an expression and return its number."""
        self.last += 1
        self.rows[self.last], self.focus[self.last] = (text, form), focus
        return self.last

    def remove(self, numbers: Iterable[int]) -> None:
        """Remove displays by their numbers. If none are left, numbers start at 1 again."""
        for number in numbers:
            del self.rows[number], self.focus[number]
            self.disabled.discard(number)
        self.last = self.last if self.rows else 0


@dataclass
class OtherRun:
    """The second of two runs side by side: how to execute a line there, and both runs' names."""

    session: Session
    execute: Callable[[str], Answer]
    name: str  # of the other run, for headings
    this_name: str


@dataclass
class Context:
    """One session, with what its commands remember."""

    session: Session
    files: Files
    allow_shell: bool  # `shell` and `python` may be used
    run_lines: RunLines  # executes lines of a script: `macaw.debugger.commands.interpreter`
    opens_block: Callable[[str], bool]  # whether lines up to `end` follow a line
    history: list[str] = field(default_factory=list)  # lines that were typed
    cursor: MemoryCursor = field(default_factory=MemoryCursor)
    displays: Displays = field(default_factory=Displays)
    arrangement: Arrangement = field(default_factory=Arrangement)  # of the screen, if there is one
    counters: Counts = field(default_factory=dict)  # at the last `info perf`
    list_position: tuple[str, int] | None = None  # of `list`: file, the next line
    list_start: tuple[str, int] | None = None  # and the first line that it has shown
    frame: int = 0  # the call that `frame`, `up` and `down` have chosen, 0 is the innermost
    user_commands: dict[str, UserCommand] = field(default_factory=dict)
    python_names: dict[str, Any] = field(default_factory=dict)  # of `python`
    execute_here: Callable[[str], Answer] | None = None  # a line, of two runs in this one alone
    other: OtherRun | None = None  # the second of two runs that are compared
