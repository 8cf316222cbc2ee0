"""Panels beside each other: the rows of the whole screen, as pieces of text with styles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment
from rich.text import Text

from macaw.debugger.layout import PANELS, SENTENCE
from macaw.debugger.views import draw
from macaw.debugger.views.grid import place_at
from macaw.debugger.views.room import ACTIVE, FAINT, TITLE, UNICODE, Room, Signs, line

if TYPE_CHECKING:
    from macaw.debugger.frame import Frame
    from macaw.debugger.layout import Arrangement, Box

Row = list[Segment]
DIGITS = {panel: str((at + 1) % 10) for at, panel in enumerate(PANELS)}


class Composer:
    """Draws frames. A panel is drawn again only when its frame, place or state is another."""

    def __init__(self, arrangement: Arrangement, signs: Signs = UNICODE) -> None:
        self.arrangement = arrangement
        self.signs = signs
        self._console = Console(width=80, color_system="standard", force_terminal=True,
                                legacy_windows=False, _environ={})  # fmt: skip
        self._drawn: dict[str, tuple[object, list[Row]]] = {}

    def rows(self, frame: Frame, width: int, height: int) -> list[Row]:
        """`height` rows of exactly `width` cells."""
        boxes, below = self._boxes(width, height)
        found = self._merged(frame, boxes, width)
        if below:
            found.append(self._padded(line((SENTENCE, FAINT)), width))
        return found[:height]

    def text(self, frame: Frame, width: int, height: int) -> str:
        """The rows without their styles."""
        rows = self.rows(frame, width, height)
        return "\n".join("".join(piece.text for piece in row).rstrip() for row in rows)

    def panels(self, width: int, height: int) -> list[str]:
        """The panels that a screen of this size shows."""
        return [box.panel for box in self.arrangement.boxes(width, height)]

    def at(
        self, frame: Frame, x: int, y: int, width: int, height: int
    ) -> tuple[str, str | None] | None:
        """The panel at a cell of such a screen, and the unit of the grid there."""
        for box in self._boxes(width, height)[0]:
            across, down = x - box.x, y - box.y
            if 0 <= across < box.width and 0 <= down < box.height:
                is_grid = box.panel == "grid" and "grid" in frame.parts and down > 0
                place = place_at(frame, self._room(box), across, down - 1) if is_grid else None
                return box.panel, place
        return None

    def _boxes(self, width: int, height: int) -> tuple[tuple[Box, ...], bool]:
        """The panels on such a screen, and whether SENTENCE stands below them."""
        below = height > 1 and self.arrangement.too_small(width, height)
        return self.arrangement.boxes(width, height - below), below

    def _room(self, box: Box) -> Room:
        """The inside of a panel, below its title."""
        scroll = self.arrangement.scroll.get(box.panel, 0)
        active = self.arrangement.active == box.panel
        return Room(box.width, max(0, box.height - 1), self.signs, scroll, active)

    def _merged(self, frame: Frame, boxes: Iterable[Box], width: int) -> list[Row]:
        columns: dict[int, list[Row]] = {}
        for box in boxes:
            columns.setdefault(box.x, []).extend(self._box(frame, box))
        found = []
        for pieces in zip(*(columns[x] for x in sorted(columns)), strict=True):
            row: Row = []
            for piece in pieces:
                if row:
                    row.append(Segment(self.signs.bar, self._console.get_style(FAINT)))
                row += piece
            found.append(Segment.adjust_line_length(row, width))
        return found

    def _box(self, frame: Frame, box: Box) -> list[Row]:
        room = self._room(box)
        part = frame.parts.get(box.panel)
        key = (frame.version, box, room.active, room.scroll)
        known = self._drawn.get(box.panel)
        if known is not None and known[0] == key:
            return known[1]
        texts = draw(box.panel, frame, room) if part is not None else []
        if room.moved and room.moved[0] != room.scroll:  # no farther than there is something
            self.arrangement.scroll[box.panel] = room.moved[0]
            key = (frame.version, box, room.active, room.moved[0])
        rows = [self._title(box, frame, room.active)]
        rows += [self._padded(text, box.width) for text in texts]
        blank = self._padded(line(), box.width)
        rows += [blank] * (box.height - len(rows))
        self._drawn[box.panel] = key, rows
        return rows

    def _title(self, box: Box, frame: Frame, active: bool) -> Row:
        rule = self.signs.rule
        name = f"{DIGITS[box.panel]} {box.panel}"
        if box.panel in ("code", "registers", "queues"):
            name += f" {frame.focus}"
        room = Room(box.width, 1, self.signs)
        name = room.cut(name, max(1, box.width - 4))
        text = line((rule, FAINT), (f" {name} ", ACTIVE if active else TITLE))
        text.append(rule * (box.width - text.cell_len), FAINT)
        return self._padded(text, box.width)

    def _padded(self, text: Text, width: int) -> Row:
        pieces = list(text.render(self._console))
        return Segment.adjust_line_length(pieces, width)
