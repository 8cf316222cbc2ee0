"""Frames: the data that the screen shows at one moment. A frame never changes.

A frame contains one part for each visible panel, by the panel's name. In a part, `age` is the
number of stops since the last change of a value: 0 if the value has changed at this stop, `OLD` if
the change is too old to be highlighted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OLD = 4  # after so many stops a change is no longer highlighted


@dataclass(frozen=True)
class CodeRow:
    """A row of the code panel: an instruction, or a line of source, whose `address` is None.

    If the source line of an instruction has the same text as the instruction, the source line has
    no row of its own; then the instruction's row has the field `line`. `mark` has the cores that
    execute the instruction next, `point` says whether a breakpoint there is "on" or "off". `share`
    and `heat` are the costs that the command `annotate` has found: the percentage of the run's
    cycles, and a number from 0 to 4.
    """

    text: str
    address: int | None = None
    where: str = ""  # a label at this address, or FILE:LINE
    line: str = ""  # FILE:LINE of the source line
    is_assembly: bool = True  # whether the language is assembly
    mark: str = ""
    point: str = ""
    current: bool = False
    share: str = ""
    heat: int = 0


@dataclass(frozen=True)
class Code:
    """The part for the code panel: instructions around the next one of the focused core.

    `core` is the kind of that core. `message` says why there are no rows, or why the rows are those
    of another place. With `has_costs`, the rows have `share` and `heat`.
    """

    rows: tuple[CodeRow, ...] = ()
    core: str = ""
    message: str = ""
    has_costs: bool = False  # whether the rows have shares

    @property
    def current(self) -> int:
        """The index of the row that is current; 0 if no row is."""
        return next((at for at, row in enumerate(self.rows) if row.current), 0)


@dataclass(frozen=True)
class Register:
    """A register and its value as text, for the registers panel.

    `age` is how many stops ago the value changed, at most `OLD`.
    """

    name: str
    text: str
    age: int = OLD


@dataclass(frozen=True)
class Queue:
    """A queue; `level` and `capacity` are numbers of items, and `past` has earlier levels.

    `high` is the greatest level so far; None if the core does not record it. `age` is how many
    stops ago the level changed, at most `OLD`.
    """

    name: str
    level: int
    capacity: int
    high: int | None = None
    past: tuple[int, ...] = ()
    age: int = OLD


@dataclass(frozen=True)
class OutputLine:
    """A line of the output panel.

    Its kind is command, answer, error, stdout, stderr or dprintf.
    """

    kind: str
    text: str


@dataclass(frozen=True)
class Output:
    """The part for the output panel. `first` is the index of the first line of the last answer.

    If `pages` is true, an answer that does not fit is shown in pages.
    """

    lines: tuple[OutputLine, ...]
    first: int = 0
    pages: bool = True


@dataclass(frozen=True)
class MemoryRow:
    """A row of the memory panel: bytes from `address` on; None where there is no memory.

    `ages` says for each byte how many stops ago it changed, at most `OLD`.
    """

    address: int
    name: str
    data: tuple[int | None, ...]
    ages: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """The part for the grid panel: one value for each unit, in rows and columns.

    Each row shows a core or a group of units, each column one unit of the row. `heat` is the
    expression whose values are shown; a value is None for a unit where the expression has no value.
    `places` has the names of the units.
    """

    heat: str
    rows: tuple[tuple[str, tuple[float | None, ...]], ...] = ()  # (name, values)
    places: tuple[tuple[str, ...], ...] = ()
    focus: str = ""
    message: str = ""


@dataclass(frozen=True)
class Counter:
    """A counter of a core, and its change since the last stop."""

    core: str
    name: str
    value: int
    change: int
    unit: str = ""


@dataclass(frozen=True)
class Stall:
    """A row of the stall tree, for a core or a part of a core.

    The rows below this row, with greater depth, are for the cores that could end its wait. `final`
    is true if this core or part will never end the wait of the row above.
    """

    # empty: the text is a cause, says that no core could end the wait, or counts parts left out
    who: str
    text: str
    depth: int
    final: bool


@dataclass(frozen=True)
class Track:
    """A core's state at each moment of the timeline: "run", "wait" or "idle"."""

    core: str
    past: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    """The part for the timeline panel: the tracks of all cores, and the cycle of each moment."""

    cycles: tuple[int, ...]
    tracks: tuple[Track, ...]


@dataclass(frozen=True)
class WatchRow:
    """A row of the watches panel: a display with its value, or a breakpoint, watch or event.

    `age` is how many stops ago `value` changed, at most `OLD`.
    """

    name: str
    text: str
    value: str
    age: int


@dataclass(frozen=True)
class Side:
    """One item in which two runs are compared, with its text in each of the runs."""

    name: str
    this: str
    other: str


@dataclass(frozen=True)
class Against:
    """The part for the against panel: the positions of two runs, and what differs between them.

    `rows` has the positions, and the registers and queues that differ. `names` are the names of the
    runs. `message` says what is equal, or why there are no rows.
    """

    names: tuple[str, str] = ("", "")
    rows: tuple[Side, ...] = ()
    message: str = ""


@dataclass(frozen=True)
class Frame:
    """The data of the screen at one moment.

    `parts` has the data of each panel, by the panel's name. `version` grows with each frame.
    """

    version: int
    status: str  # a sentence that says why the program has stopped
    reason: str  # a key of `macaw.debugger.stops.REASONS`
    cycle: int
    focus: str
    parts: Mapping[str, Any]


def visible(text: str) -> str:
    """Return `text` in a form that is safe for a terminal.

    Control characters are replaced by U+FFFD, tabs by spaces.
    """
    text = text.expandtabs(8)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
