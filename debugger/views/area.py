"""The area of a panel (size, characters, scrolling), and functions that draw parts of rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from rich.cells import cell_len
from rich.control import strip_control_codes
from rich.text import Span, Text

from macaw.debugger.frame import OLD


@dataclass(frozen=True)
class Signs:
    """The characters that the panels use as symbols; each is one cell wide."""

    rule: str
    bar: str
    spark: str  # from empty to full
    heat: str  # from the least to the greatest value
    full: str
    empty: str
    here: str  # marks the next instruction of the focused core
    other: str  # marks the next instruction of another core
    point: str
    off: str  # marks a breakpoint that is disabled
    below: str
    more: str  # marks a text that was cut
    above: str  # says that rows above are hidden
    under: str  # says that rows below are hidden
    running: str
    waiting: str
    idle: str


UNICODE = Signs(
    "─", "│", " ▁▂▃▄▅▆▇█", " ░▒▓█", "█", "·", "▶", "▷", "●", "○", "└ ", "…", "▲", "▼", "█", "░", "·"
)
ASCII = Signs(
    "-", "|", " .:-=+*%#", " .:*#", "#", ".", ">", "}", "*", "o", "`-", "~", "^", "v", "#", ":", "."
)

# Only the 16 colours that any terminal has. No colour is the only sign of anything: a text or the
# attributes bold, italic, underline and reverse, which work without colours, say the same.
FADING = ("bold reverse yellow", "bold underline yellow", "underline yellow", "bold")
TITLE = "bold"
ACTIVE = "bold reverse"
FAINT = "bright_black"
ADDRESS = "cyan"
BAD = "bold red"
GOOD = "green"
NAME = "blue"


def change_style(age: int) -> str:
    """Return the style of a value that has changed `age` stops ago."""
    return FADING[age] if age < min(OLD, len(FADING)) else ""


@dataclass(frozen=True)
class Area:
    """The inside of a panel, in cells.

    `scroll` is the number of rows by which the user has scrolled down. The functions that draw the
    panel fill the lists. `offset` gets the part of `scroll` that was possible, `hidden` the numbers
    of hidden rows above and below. If an answer is shown in pages, `pages` gets the number of rows
    of a page, and whether the answer has an earlier page.
    """

    width: int
    height: int
    signs: Signs = UNICODE
    scroll: int = 0
    active: bool = False
    offset: list[int] = field(default_factory=list, compare=False)
    hidden: list[int] = field(default_factory=lambda: [0, 0], compare=False)
    pages: list[int] = field(default_factory=list, compare=False)

    def cut(self, text: str, width: int) -> str:
        """Return a text cut to `width` cells, with a sign at the end if it was cut."""
        if cell_len(text) <= width:
            return text
        if width < 1:
            return ""
        if text.isascii():
            return text[: width - 1] + self.signs.more
        short = Text(text)
        short.truncate(width - 1)
        return short.plain + self.signs.more

    def window(self, rows: int, begin: int = 0) -> range:
        """Return the range of rows to show, out of `rows` rows.

        The range starts at row `begin`, or elsewhere if the user has scrolled. It contains only
        rows that exist.
        """
        last = max(0, rows - self.height)
        begin = min(max(0, begin), last)
        first = min(max(0, begin + self.scroll), last)
        return self.note(first, rows, first - begin)

    def note(self, first: int, rows: int, offset: int, count: int | None = None) -> range:
        """Record which of `rows` rows the panel shows, and return their range.

        It shows `count` rows from row `first` on, or all that fit into the area if `count` is None.
        `offset` is only recorded: the number of rows by which the user has scrolled down to `first`
        from the row that is the first by default.
        """
        end = min(rows, first + (self.height if count is None else count))
        self.offset[:] = [offset]
        self.hidden[:] = [first, rows - end]
        return range(first, end)


def line(*parts: str | Text | tuple[str, str]) -> Text:
    """Return a row of texts and of pairs (text, style); no text is parsed as markup.

    Neighbours of the same style become one span, because each span takes time when the row is
    drawn.
    """
    plain: list[str] = []
    spans: list[Span] = []
    end = 0
    for part in parts:
        begin = end
        if isinstance(part, Text):
            plain.append(part.plain)
            end += len(part)
            spans += [Span(begin + x.start, begin + x.end, x.style) for x in part.spans]
            continue
        text, style = (part, "") if isinstance(part, str) else part
        text = strip_control_codes(text)
        plain.append(text)
        end += len(text)
        if not style or begin == end:
            continue
        if spans and spans[-1].end == begin and spans[-1].style == style:
            begin = spans.pop().start
        spans.append(Span(begin, end, style))
    return Text("".join(plain), no_wrap=True, end="", spans=spans)


def cut_text(text: Text, width: int, signs: Signs) -> Text:
    """Return a row cut to `width` cells; if it was cut, a sign is at its end."""
    if text.cell_len <= width:
        return text
    short = text.copy()
    short.truncate(max(0, width - 1))
    return line(short, signs.more[:width])


def spark(values: tuple[int, ...], top: int, width: int, signs: Signs) -> str:
    """Return the last `width` values as characters of different height, the newest at the right.

    `top` is the value that has the greatest height.
    """
    steps = len(signs.spark) - 1
    text = ""
    for value in values[-width:]:
        part = min(steps, -(-steps * min(value, top) // top)) if top else 0
        text += signs.spark[part]
    return text.rjust(width)


def bar(part: float, width: int, signs: Signs) -> str:
    """Return a bar of `width` cells of which the fraction `part` is filled.

    If `part` is more than 0, at least one cell is filled.
    """
    cells = min(width, max(int(part * width), 1 if part > 0 else 0))
    return signs.full * cells + signs.empty * (width - cells)
