"""The layout of the screen: divides the screen into rectangles of character cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

PANELS = {
    "code": "instructions with lines of source",
    "registers": "registers of the focus",
    "queues": "queues of the focus: level, capacity, past levels, high-water mark",
    "output": "answers of commands and output of the program",
    "memory": "the bytes that `x` has shown last",
    "grid": "one cell for each unit, coloured by `heat`",
    "counters": "performance counters, with their change since the last stop",
    "stalls": "who waits for what, and for whom",
    "timeline": "states of cores at past moments of the run",
    "watches": "displays, watches and breakpoints",
    "against": "both of two runs (`--against`), and what differs",
}
DIGITS = dict(zip(PANELS, "1234567890a", strict=True))  # Alt and this key select the panel
OF_TWO = "against"  # the panel that is shown if there are two runs
SMALLEST = (60, 16)  # columns, rows; a smaller terminal shows one panel and `SENTENCE`
MOST = 8.0  # a panel's height may be multiplied or divided by at most this
LEAST = (12, 3)  # the least columns and rows of a panel with its title
SENTENCE = "The terminal is small: Alt-digit changes the panel."


@dataclass(frozen=True)
class Rectangle:
    """A panel's rectangle, in character cells; its first row shows the title."""

    panel: str
    x: int
    y: int
    width: int
    height: int


# the number of rows that a panel needs at a width; None: any number
Need = Callable[[str, int], int | None]


@dataclass(frozen=True)
class Column:
    """A column of panels. `share` is its share of the band's width.

    `panels` has (name, share of the height) for each panel.
    """

    share: int
    panels: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Band:
    """Columns side by side over the whole width; `share` is the band's share of the height.

    A layout consists of bands, one below the other.
    """

    share: int
    columns: tuple[Column, ...]


LAYOUTS: Mapping[str, tuple[Band, ...]] = {
    "small": (
        Band(13, (Column(46, (("code", 1),)), Column(33, (("registers", 8), ("queues", 5))))),
        Band(8, (Column(1, (("output", 1),)),)),
    ),
    "medium": (
        Band(
            24,
            (
                Column(64, (("code", 1),)),
                Column(55, (("registers", 12), ("queues", 6), ("counters", 6))),
            ),
        ),
        Band(13, (Column(73, (("output", 1),)), Column(46, (("grid", 6), ("memory", 7))))),
    ),
    "large": (
        Band(
            29,
            (
                Column(86, (("code", 1),)),
                Column(56, (("registers", 12), ("queues", 6), ("grid", 11))),
                Column(56, (("counters", 13), ("timeline", 7), ("stalls", 9))),
            ),
        ),
        Band(18, (Column(120, (("output", 1),)), Column(79, (("watches", 6), ("memory", 12))))),
    ),
}
GROWS = "output"  # a long answer makes the band with this panel higher
HIGHEST = 2 / 3  # share of the screen for that band
NAMES = ("auto", *LAYOUTS)


def layout_for(width: int, height: int) -> str:
    """Return the name of the default layout for a terminal of `width` x `height` cells."""
    if width >= 180 and height >= 45:
        return "large"
    return "medium" if width >= 110 and height >= 34 else "small"


@dataclass
class Arrangement:
    """The user's choice of layout, panels and sizes. `version` grows with each change.

    `shares` has, by panel, the factor by which the user has changed the panel's height. `scroll`
    has, by panel, the number of rows by which the user has scrolled. `active` is the panel that
    gets keys; empty for the input line. `mouse` says whether the screen uses the mouse, `pages`
    whether a long answer is shown in pages. `heat` is the expression of the grid panel; empty for
    the first counter of the units.
    """

    name: str = "auto"
    # panels that are shown besides those of the layout
    extra_panels: list[str] = field(default_factory=list)
    hidden_panels: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)
    zoom_panel: str = ""
    active: str = ""
    mouse: bool = False
    pages: bool = True
    heat: str = ""
    scroll: dict[str, int] = field(default_factory=dict)
    version: int = 0

    def bands(self, width: int, height: int) -> tuple[Band, ...]:
        """Return the bands of a screen of `width` x `height` cells, with the chosen panels.

        If the user has shown a panel that the layout does not contain, this panel replaces the last
        panel of the first band. Columns without panels and bands without columns are left out.
        """
        name = layout_for(width, height) if self.name == "auto" else self.name
        bands = LAYOUTS[name]
        present = {panel for band in bands for column in band.columns for panel, _ in column.panels}
        replaced = bands[0].columns[-1].panels[-1][0]
        others = [panel for panel in self.extra_panels if panel not in present]
        names = {replaced: others[-1]} if others else {}
        chosen = []
        for band in bands:
            columns = [
                replace(column, panels=tuple(
                    (names.get(panel, panel), share) for panel, share in column.panels
                    if names.get(panel, panel) not in self.hidden_panels))
                for column in band.columns
            ]  # fmt: skip
            columns = [column for column in columns if column.panels]
            if columns:
                chosen.append(replace(band, columns=tuple(columns)))
        return tuple(chosen) or (Band(1, (Column(1, (("code", 1),)),)),)

    def panels(self, width: int, height: int) -> list[str]:
        """Return the panels that a screen of `width` x `height` cells shows."""
        return [rectangle.panel for rectangle in self.rectangles(width, height)]

    def rectangles(
        self, width: int, height: int, need: Need = lambda panel, width: None
    ) -> tuple[Rectangle, ...]:
        """Return the rectangles of the panels on a screen of `width` x `height` cells.

        One cell separates neighbouring columns. `need(panel, width)` returns how many rows a panel
        fills below its title, or None if it can use any number of rows. Rows that a panel does not
        need go to the other panels of its column. Which panels are shown does not depend on `need`.
        """
        if self.too_small(width, height):
            panel = (
                self.zoom_panel
                or self.active
                or (self.extra_panels[-1] if self.extra_panels else "code")
            )
            return (Rectangle(panel, 0, 0, width, max(1, height)),)
        if self.zoom_panel:
            return (Rectangle(self.zoom_panel, 0, 0, width, height),)
        bands = self.bands(width, height)
        heights = divide([self._weight(band) for band in bands], height, LEAST[1])
        bands = tuple(
            _fitting(band, max(1, high // LEAST[1]), self.extra_panels[-1:])
            for band, high in zip(bands, heights, strict=True)
        )
        rectangles, y = [], 0
        for band, high in zip(bands, _grown(bands, heights, width, need), strict=True):
            x = 0
            for column, wide in zip(band.columns, _widths(band, width), strict=True):
                top = y
                rows = self._rows(column.panels, wide, high, need)
                for (panel, _), panel_rows in zip(column.panels, rows, strict=True):
                    rectangles.append(Rectangle(panel, x, top, wide, panel_rows))
                    top += panel_rows
                x += wide + 1
            y += high
        return tuple(rectangles)

    def _weight(self, band: Band) -> float:
        """Return a band's share of the screen's height, changed by the user's factors.

        A panel that is alone in its column is as high as the band. So if the user has made it
        higher by a factor, the band's share in the layout is multiplied by this factor.
        """
        weight = float(band.share)
        for column in band.columns:
            if len(column.panels) == 1:
                weight *= self.shares.get(column.panels[0][0], 1.0)
        return weight

    def _rows(
        self, panels: tuple[tuple[str, int], ...], width: int, height: int, need: Need
    ) -> list[int]:
        """Return the height in rows of each panel of a column of `height` rows.

        `panels` has (panel, share) of each panel. `need(panel, width)` returns how many rows a
        panel fills below its title, or None if it can use any number of rows.
        """
        factors = [self.shares.get(panel, 1.0) for panel, _ in panels]
        shares = [share * factor for (_, share), factor in zip(panels, factors, strict=True)]
        wanted: list[int | None] = []
        for (panel, _), factor in zip(panels, factors, strict=True):
            rows = need(panel, width)
            is_free = rows is None or factor > 1  # the user wants more rows
            wanted.append(None if is_free else max(LEAST[1] - 1, rows or 0) + 1)
        return fill(shares, wanted, height, LEAST[1])

    def too_small(self, width: int, height: int) -> bool:
        """Return whether a terminal is too small for a layout of panels.

        `width` and `height` are the cells for panels; the whole terminal has `FRAME` more rows. It
        is too small if it has fewer columns than `SMALLEST[0]` or fewer rows than `SMALLEST[1]`.
        """
        return width < SMALLEST[0] or height + FRAME < SMALLEST[1]

    @property
    def visible(self) -> list[str]:
        """The panels that a terminal of 80 x 24 cells shows."""
        return self.panels(80, 24 - FRAME)

    def note_change(self) -> None:
        """Increment `version`, so that the screen is drawn again."""
        self.version += 1

    def show(self, panel: str) -> None:
        """Show a panel, which replaces the last panel that this method has shown.

        If one panel fills the screen (`zoom`), the new panel fills the screen in its place.
        """
        if panel in self.hidden_panels:
            self.hidden_panels.remove(panel)
        if panel in self.extra_panels:
            self.extra_panels.remove(panel)
        self.extra_panels.append(panel)
        del self.extra_panels[:-1]
        if self.zoom_panel:
            self.zoom_panel = panel
        self.note_change()

    def hide(self, panel: str) -> None:
        """Hide a panel."""
        if panel in self.extra_panels:
            self.extra_panels.remove(panel)
        if panel not in self.hidden_panels:
            self.hidden_panels.append(panel)
        self.active = "" if self.active == panel else self.active
        self.zoom_panel = "" if self.zoom_panel == panel else self.zoom_panel
        self.note_change()

    def resize(self, panel: str, factor: float) -> None:
        """Multiply a panel's share of its column's height by a factor.

        The product of all factors of a panel stays between 1 / `MOST` and `MOST`.
        """
        self.shares[panel] = min(MOST, max(1 / MOST, self.shares.get(panel, 1.0) * factor))
        self.note_change()

    def zoom(self, panel: str) -> None:
        """Make a panel fill the screen; an empty name shows all panels again."""
        self.zoom_panel = panel
        self.note_change()

    def reset(self, name: str) -> None:
        """Choose the layout `name`, and discard the user's changes to the layout."""
        self.name, self.zoom_panel, self.active = name, "", ""
        self.extra_panels, self.hidden_panels, self.shares, self.scroll = [], [], {}, {}
        self.note_change()

    def plain(self) -> dict[str, Any]:
        """Return the settings to store in a file, from which `take` restores them."""
        return {"layout": self.name, "shown": [x for x in self.extra_panels if x != OF_TWO],
                "hidden": self.hidden_panels,
                "shares": self.shares, "heat": self.heat, "mouse": self.mouse,
                "pages": self.pages}  # fmt: skip

    def take(self, settings: Mapping[str, Any]) -> None:
        """Restore settings that `plain` has returned; ignore invalid settings."""
        if settings.get("layout") in NAMES:
            self.name = settings["layout"]
        for name, key in (("extra_panels", "shown"), ("hidden_panels", "hidden")):
            panels = settings.get(key)
            if isinstance(panels, list):
                setattr(self, name, [panel for panel in panels if panel in PANELS])
        shares = settings.get("shares")
        if isinstance(shares, dict):
            self.shares = {
                panel: min(MOST, max(1 / MOST, float(share)))
                for panel, share in shares.items()
                if panel in PANELS and isinstance(share, int | float)
            }
        self.mouse = settings.get("mouse") is True
        self.pages = settings.get("pages") is not False
        if isinstance(settings.get("heat"), str):
            self.heat = settings["heat"]
        self.note_change()


FRAME = 3  # rows of the screen besides the panels: status, input, keys


def _widths(band: Band, width: int) -> list[int]:
    """Return the widths in cells of a band's columns; one cell separates neighbouring columns."""
    columns = band.columns
    return divide([column.share for column in columns], width - len(columns) + 1, LEAST[0])


def _fitting(band: Band, count: int, shown: Sequence[str]) -> Band:
    """Return a band that has only `count` panels of each column.

    A panel of `shown` has priority, then the first ones of the column.
    """
    columns = []
    for column in band.columns:
        kept = sorted(column.panels, key=lambda panel: panel[0] not in shown)[:count]
        columns.append(replace(column, panels=tuple(x for x in column.panels if x in kept)))
    return replace(band, columns=tuple(columns))


def _grown(bands: Sequence[Band], heights: list[int], width: int, need: Need) -> list[int]:
    """Return the heights of the bands, changed so that the output panel gets the rows it needs.

    If this panel (`GROWS`) is alone in a column of a band, the band grows to at most the share
    `HIGHEST` of the screen, and the other bands shrink. `heights` are the heights before, `width`
    is the width of the screen.
    """
    total = sum(heights)
    for at, band in enumerate(bands):
        for column, wide in zip(band.columns, _widths(band, width), strict=True):
            if len(bands) > 1 and [panel for panel, _ in column.panels] == [GROWS]:
                others = [*heights[:at], *heights[at + 1 :]]
                fixed = LEAST[1] * max(
                    max(len(column.panels) for column in other.columns)
                    for other in (*bands[:at], *bands[at + 1 :])
                )
                most = min(int(HIGHEST * total), total - fixed)
                wanted = min(most, 1 + (need(GROWS, wide) or 0))
                if wanted > heights[at]:
                    others = divide(others, total - wanted, LEAST[1])
                    return [*others[:at], wanted, *others[at:]]
    return heights


def divide(shares: Sequence[float], total: int, least: int) -> list[int]:
    """Divide `total` into whole numbers in proportion to `shares`, and return them.

    If the total is large enough, each number is at least `least`.
    """
    least = min(least, total // max(1, len(shares)))
    free = total - least * len(shares)
    whole = sum(shares)
    exact = [free * share / whole for share in shares]
    parts = [least + int(part) for part in exact]
    order = sorted(range(len(shares)), key=lambda at: int(exact[at]) - exact[at])
    for at in order[: total - sum(parts)]:
        parts[at] += 1
    return parts


def fill(
    shares: Sequence[float], wanted: Sequence[int | None], total: int, least: int
) -> list[int]:
    """Divide `total` into numbers in proportion to `shares`, with upper limits, and return them.

    `wanted` has the upper limits; None means no limit. What exceeds the limit of an item is divided
    among the other items in proportion to their shares. If all items have reached their limits, the
    last item gets the rest. `least` is the least number of an item before the limits apply.
    """
    parts = divide(shares, total, least)
    limits = [total if most is None else most for most in wanted]
    free = list(range(len(parts)))
    while free:
        small = [at for at in free if parts[at] > limits[at]]
        if not small:
            break
        for at in small:
            parts[at] = limits[at]
        free = [at for at in free if at not in small]
        rest = total - sum(part for at, part in enumerate(parts) if at not in free)
        for at, part in zip(free, divide([shares[x] for x in free], rest, least), strict=True):
            parts[at] = part
    parts[-1] += total - sum(parts)
    return parts
