"""Composes the rows of the whole screen from panels, as pieces of text with styles."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from macaw.debugger.layout import DIGITS, SENTENCE
from macaw.debugger.views import draw, need
from macaw.debugger.views.area import ACTIVE, FAINT, TITLE, UNICODE, Area, Signs, cut_text, line
from macaw.debugger.views.grid import place_at

if TYPE_CHECKING:
    from rich.style import Style

    from macaw.debugger.frame import Frame
    from macaw.debugger.layout import Arrangement, Rectangle

Row = list[Segment]


class Hit(NamedTuple):
    """What a cell of the screen shows: a row of a panel and, in the grid, a unit.

    `row` is 0 for the title of the panel. `is_last` is true for its last row. `place` is the unit,
    or None.
    """

    panel: str
    row: int
    is_last: bool
    place: str | None


class Composer:
    """Composes the rows of the screen.

    It draws a panel again only for a new frame, or if the panel's rectangle or scrolling has
    changed, or if the panel has become active or inactive.
    """

    def __init__(self, arrangement: Arrangement, signs: Signs = UNICODE) -> None:
        self.arrangement = arrangement
        self.signs = signs
        self._console = Console(width=80, color_system="standard", force_terminal=True,
                                legacy_windows=False, _environ={})  # fmt: skip
        self._styles: dict[str | Style, Style] = {}
        self._cache: dict[str, tuple[object, list[Row], Area]] = {}

    def rows(self, frame: Frame, width: int, height: int) -> list[Row]:
        """Return the `height` rows of the screen, each of exactly `width` cells."""
        rectangles, below = self._rectangles(frame, width, height)
        rows = self._merge(frame, rectangles, width)
        if below:
            rows.append(self._pad(cut_text(line((SENTENCE, FAINT)), width, self.signs), width))
        return rows[:height]

    def text(self, frame: Frame, width: int, height: int) -> str:
        """Return the rows of the screen as text without styles."""
        rows = self.rows(frame, width, height)
        return "\n".join("".join(piece.text for piece in row).rstrip() for row in rows)

    def panels(self, width: int, height: int) -> list[str]:
        """Return the panels that a screen of this size shows."""
        return self.arrangement.panels(width, height)

    def at(self, frame: Frame, x: int, y: int, width: int, height: int) -> Hit | None:
        """Return what cell (x, y) of a screen shows; None outside of all panels.

        `width` and `height` are the size of the screen in cells.
        """
        for rectangle in self._rectangles(frame, width, height)[0]:
            across, down = x - rectangle.x, y - rectangle.y
            if 0 <= across < rectangle.width and 0 <= down < rectangle.height:
                is_grid = rectangle.panel == "grid" and "grid" in frame.parts and down > 0
                place = (
                    place_at(frame, self._area(rectangle), across, down - 1) if is_grid else None
                )
                return Hit(rectangle.panel, down, down == rectangle.height - 1, place)
        return None

    def area(self, panel: str) -> Area | None:
        """Return the inside of a panel as it was drawn last, or None if it was never drawn."""
        return self._cache[panel][2] if panel in self._cache else None

    def _rectangles(
        self, frame: Frame, width: int, height: int
    ) -> tuple[tuple[Rectangle, ...], bool]:
        """Return the rectangles of the panels, and whether `SENTENCE` has a row below them.

        This sentence tells the user how to change the panel in a terminal that is too small for
        several. It is shown only in such a terminal, and if there is more than one row.
        """
        below = height > 1 and self.arrangement.too_small(width, height)

        def rows(panel: str, width: int) -> int | None:
            return need(panel, frame, width, self.signs)

        return self.arrangement.rectangles(width, height - below, rows), below

    def _area(self, rectangle: Rectangle) -> Area:
        """Return the inside of a panel, below its title."""
        scroll = self.arrangement.scroll.get(rectangle.panel, 0)
        active = self.arrangement.active == rectangle.panel
        return Area(rectangle.width, max(0, rectangle.height - 1), self.signs, scroll, active)

    def _merge(self, frame: Frame, rectangles: Iterable[Rectangle], width: int) -> list[Row]:
        """Return the rows of the screen: pieces of panels side by side, from left to right."""
        pieces: dict[int, list[tuple[int, int, Row]]] = {}
        for rectangle in rectangles:
            for y, piece in enumerate(self._panel(frame, rectangle), rectangle.y):
                pieces.setdefault(y, []).append((rectangle.x, rectangle.width, piece))
        rows = []
        bar = Segment(self.signs.bar, self._style(FAINT))
        for y in sorted(pieces):
            row: Row = []
            cells = 0
            for x, panel_width, piece in sorted(pieces[y], key=itemgetter(0)):
                row += [bar, *piece] if x else piece
                cells += panel_width + bool(x)
            rows.append(row if cells == width else Segment.adjust_line_length(row, width))
        return rows

    def _panel(self, frame: Frame, rectangle: Rectangle) -> list[Row]:
        area = self._area(rectangle)
        part = frame.parts.get(rectangle.panel)
        key = (frame.version, rectangle, area.active, area.scroll)
        last = self._cache.get(rectangle.panel)
        if last is not None and last[0] == key:
            return last[1]
        texts = draw(rectangle.panel, frame, area) if part is not None else []
        if area.offset and area.offset[0] != area.scroll:  # the user has scrolled past an end
            self.arrangement.scroll[rectangle.panel] = area.offset[0]
            key = (frame.version, rectangle, area.active, area.offset[0])
        rows = [self._title(rectangle, frame, area)]
        rows += [self._pad(text, rectangle.width) for text in texts]
        blank = self._pad(line(), rectangle.width)
        rows += [blank] * (rectangle.height - len(rows))
        self._cache[rectangle.panel] = key, rows, area
        return rows

    def _title(self, rectangle: Rectangle, frame: Frame, area: Area) -> Row:
        """Return the title row of a panel, with the numbers of rows that are hidden."""
        signs = self.signs
        above, under = area.hidden
        hidden = f" {signs.above}{above:,}" if above else ""
        hidden += f" {signs.under}{under:,}" if under else ""
        name = f"{DIGITS[rectangle.panel]} {rectangle.panel}"
        if rectangle.panel in ("code", "registers", "queues"):
            name += f" {frame.focus}"
        name = area.cut(name, max(1, rectangle.width - 4 - len(hidden)))
        text = line((signs.rule, FAINT), (f" {name} ", ACTIVE if area.active else TITLE))
        rest = rectangle.width - text.cell_len - len(hidden) - 2
        text.append(signs.rule * rest, FAINT)
        text.append(f"{hidden} {signs.rule}" if hidden else signs.rule * 2, FAINT)
        return self._pad(cut_text(text, rectangle.width, signs), rectangle.width)

    def _pad(self, text: Text, width: int) -> Row:
        """Return the pieces of a row that is cut or padded to `width` cells.

        Styles in a row hardly ever overlap. If they do, rich divides the row into pieces, which is
        slower.
        """
        plain = text.plain
        pieces: Row = []
        end = 0
        for begin, span_end, style in text.spans:
            if begin < end or span_end > len(plain):
                return Segment.adjust_line_length(list(text.render(self._console)), width)
            if begin > end:
                pieces.append(Segment(plain[end:begin]))
            pieces.append(Segment(plain[begin:span_end], self._style(style)))
            end = span_end
        if end < len(plain):
            pieces.append(Segment(plain[end:]))
        blanks = width - cell_len(plain)
        if blanks < 0:
            return Segment.adjust_line_length(pieces, width)
        return [*pieces, Segment(" " * blanks)] if blanks else pieces

    def _style(self, style: str | Style) -> Style:
        if style not in self._styles:
            self._styles[style] = self._console.get_style(style)
        return self._styles[style]
