"""What the debugger hands to its screen: plain data of one moment, never changed afterwards.

A frame holds the parts of the panels that are visible, by the panel's name. `age` says how many
stops ago a value has changed: 0 at this one, `OLD` longer ago than anybody shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

OLD = 4  # stops after which a change has faded


@dataclass(frozen=True)
class CodeRow:
    """A line of source (`address` is None) or an instruction."""

    text: str
    address: int | None = None
    where: str = ""  # a label that is here, or FILE:LINE
    mark: str = ""  # who stands here
    point: str = ""  # "on", "off": a breakpoint is here
    current: bool = False


@dataclass(frozen=True)
class Code:
    """Instructions around where the focused core stands; `message`: why there are none."""

    rows: tuple[CodeRow, ...] = ()
    message: str = ""

    @property
    def current(self) -> int:
        """The place of the current row, 0 without one."""
        return next((at for at, row in enumerate(self.rows) if row.current), 0)


@dataclass(frozen=True)
class Register:
    """A register and its value as text."""

    name: str
    text: str
    age: int = OLD


@dataclass(frozen=True)
class Queue:
    """A queue: how full it is and was, oldest first."""

    name: str
    level: int
    capacity: int
    high: int | None = None
    past: tuple[int, ...] = ()
    age: int = OLD


@dataclass(frozen=True)
class Written:
    """A line of the output panel. Kinds: command, answer, error, stdout, stderr, dprintf."""

    kind: str
    text: str


@dataclass(frozen=True)
class MemoryRow:
    """Some bytes at an address: None where nothing is."""

    address: int
    name: str
    data: tuple[int | None, ...]
    ages: tuple[int, ...]


@dataclass(frozen=True)
class Grid:
    """A value for each unit: rows of cores and groups, columns of units.

    `heat` is the expression. A value is None where it has none.
    """

    heat: str
    rows: tuple[tuple[str, tuple[float | None, ...]], ...] = ()  # name, values
    places: tuple[tuple[str, ...], ...] = ()
    focus: str = ""
    message: str = ""


@dataclass(frozen=True)
class Counter:
    """A counter of a core, and what has come to it since the last stop."""

    core: str
    name: str
    value: int
    change: int
    unit: str = ""


@dataclass(frozen=True)
class Stall:
    """Somebody who waits or for whom somebody waits; those who could end that are below it."""

    who: str  # empty: nobody could, or a true cause in words
    text: str
    depth: int
    final: bool = False  # it never ends a wait


@dataclass(frozen=True)
class Track:
    """What a core was at in moments of the past: "run", "wait", "idle"."""

    core: str
    past: tuple[str, ...]


@dataclass(frozen=True)
class Timeline:
    """Tracks of all cores over the moments that were looked at, and their cycles."""

    cycles: tuple[int, ...] = ()
    tracks: tuple[Track, ...] = ()


@dataclass(frozen=True)
class Watched:
    """A display with its value, or a point."""

    name: str
    text: str
    value: str
    age: int = OLD


@dataclass(frozen=True)
class Frame:
    """One moment. `parts` are by panel; `version` grows with each frame."""

    version: int
    status: str  # why the program stands, first
    reason: str  # of `macaw.debugger.stops.REASONS`
    cycle: int
    focus: str
    parts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def visible(text: str) -> str:
    """A text without what would move a terminal's cursor; tabs become spaces."""
    text = text.expandtabs(8)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)
