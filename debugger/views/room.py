"""What a panel gets to draw in: its size, the signs it may use, and where it is scrolled to."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.text import Text

from macaw.debugger.frame import OLD


@dataclass(frozen=True)
class Signs:
    """The characters beside text; each is one cell wide."""

    rule: str
    bar: str
    spark: str  # from empty to full
    heat: str  # from least to most
    full: str
    empty: str
    here: str  # where the focused core stands
    other: str  # where another one does
    point: str
    off: str  # a breakpoint that is disabled
    below: str
    more: str  # something was cut
    running: str
    waiting: str
    idle: str


UNICODE = Signs(
    "─", "│", " ▁▂▃▄▅▆▇█", " ░▒▓█", "█", "·", "▶", "▷", "●", "○", "└ ", "…", "█", "░", "·"
)
ASCII = Signs(
    "-", "|", " .:-=+*%#", " .:*#", "#", ".", ">", "}", "*", "o", "`-", "~", "#", ":", "."
)

# Of the 16 colours of any terminal. Attributes stay without colours.
FADING = ("bold reverse yellow", "bold yellow", "yellow", "bold")
TITLE = "bold"
ACTIVE = "bold reverse"
FAINT = "bright_black"
ADDRESS = "cyan"
BAD = "bold red"
GOOD = "green"
NAME = "blue"


def changed(age: int) -> str:
    """The style of a value that has changed so many stops ago."""
    return FADING[age] if age < min(OLD, len(FADING)) else ""


@dataclass(frozen=True)
class Room:
    """The inside of a panel."""

    width: int
    height: int
    signs: Signs = UNICODE
    scroll: int = 0
    active: bool = False
    moved: list[int] = field(default_factory=list, compare=False)  # how far it could be scrolled

    def cut(self, text: str, width: int) -> str:
        """A text in at most so many cells, with a sign if something is missing."""
        if cell_len(text) <= width:
            return text
        if width < 1:
            return ""
        found = Text(text)
        found.truncate(width - 1)
        return found.plain + self.signs.more

    def window(self, rows: int, begin: int = 0) -> range:
        """Which of so many rows are shown: from `begin`, moved by what the user has scrolled."""
        last = max(0, rows - self.height)
        begin = min(max(0, begin), last)
        first = min(max(0, begin + self.scroll), last)
        self.moved[:] = [first - begin]
        return range(first, min(rows, first + self.height))


def line(*parts: str | Text | tuple[str, str]) -> Text:
    """A line of texts, or texts with styles. Nothing in them is markup."""
    return Text.assemble(*parts, no_wrap=True, end="")


def spark(values: tuple[int, ...], top: int, width: int, signs: Signs) -> str:
    """The last values as heights, the newest at the right."""
    steps = len(signs.spark) - 1
    found = ""
    for value in values[-width:]:
        part = min(steps, -(-steps * min(value, top) // top)) if top else 0
        found += signs.spark[part]
    return found.rjust(width)


def bar(part: float, width: int, signs: Signs) -> str:
    """A part of 1 as a bar; more than nothing is at least a cell."""
    cells = min(width, max(int(part * width), 1 if part > 0 else 0))
    return signs.full * cells + signs.empty * (width - cells)
