"""The layout of the screen: divides it into rectangles of character cells for the panels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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
}
SMALLEST = (60, 16)  # columns, rows; a smaller terminal shows one panel and `SENTENCE`
MOST = 8.0  # the largest factor of a panel's height, either way
LEAST = (12, 3)  # least columns and rows of a panel with its title
SENTENCE = "The terminal is small: Alt-digit changes the panel."


@dataclass(frozen=True)
class Rectangle:
    """A panel's rectangle, in character cells; its first row shows the title."""

    panel: str
    x: int
    y: int
    width: int
    height: int


Column = tuple[
    int, tuple[tuple[str, int], ...]
]  # its share of the width; panels with their shares of height

LAYOUTS: Mapping[str, tuple[Column, ...]] = {
    "small": (
        (48, (("code", 12), ("output", 9))),
        (31, (("registers", 13), ("queues", 8))),
    ),
    "medium": (
        (64, (("code", 20), ("output", 9), ("memory", 8))),
        (55, (("registers", 12), ("queues", 8), ("grid", 8), ("counters", 9))),
    ),
    "large": (
        (86, (("code", 24), ("output", 12), ("memory", 11))),
        (60, (("registers", 17), ("queues", 9), ("grid", 10), ("watches", 11))),
        (52, (("counters", 20), ("stalls", 12), ("timeline", 15))),
    ),
}
NAMES = ("auto", *LAYOUTS)


def layout_for(width: int, height: int) -> str:
    """Return the name of the default layout for a terminal of this many columns and rows."""
    if width >= 180 and height >= 45:
        return "large"
    return "medium" if width >= 110 and height >= 34 else "small"


@dataclass
class Arrangement:
    """The user's choice of panels and sizes. `version` grows with each change."""

    name: str = "auto"
    extra_panels: list[str] = field(default_factory=list)  # shown beside those of the layout
    hidden_panels: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)  # factors of height, by panel
    zoom_panel: str = ""
    active: str = ""  # the panel that gets keys; empty: the input line
    mouse: bool = False  # the screen uses the terminal's mouse
    heat: str = ""  # an expression; empty: the first counter of the units
    scroll: dict[str, int] = field(default_factory=dict)  # rows, by panel
    version: int = 0

    def columns(self, width: int, height: int) -> list[tuple[int, list[tuple[str, float]]]]:
        """Return the columns of a screen of `width` x `height` cells, from left to right.

        A column is a pair: its share of the width, and its panels with their shares of the height.
        """
        name = layout_for(width, height) if self.name == "auto" else self.name
        columns = [(share, [(panel, float(rows)) for panel, rows in panels])
                 for share, panels in LAYOUTS[name]]  # fmt: skip
        present = {panel for _, panels in columns for panel, _ in panels}
        for panel in self.extra_panels:
            if panel not in present:
                # It takes the place of the least important one, the last of the last column.
                share, panels = columns[-1]
                last, rows = panels[-1]
                replacement = (panel, rows)
                columns[-1] = (
                    share,
                    [*panels[:-1], replacement] if len(panels) > 1 else [replacement],
                )
                present = present - {last} | {panel}
        visible = [
            (share, [(p, rows * self.shares.get(p, 1.0)) for p, rows in panels
                     if p not in self.hidden_panels])
            for share, panels in columns
        ]  # fmt: skip
        return [column for column in visible if column[1]] or [(1, [("code", 1.0)])]

    def rectangles(self, width: int, height: int) -> tuple[Rectangle, ...]:
        """Return the rectangles of the panels on a screen of `width` x `height` cells.

        One cell separates neighbouring columns.
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
        columns = self.columns(width, height)
        widths = divide([share for share, _ in columns], width - len(columns) + 1, LEAST[0])
        rectangles, x = [], 0
        for (_, panels), wide in zip(columns, widths, strict=True):
            panels = panels[: max(1, height // LEAST[1])]
            y = 0
            for (panel, _), high in zip(
                panels, divide([rows for _, rows in panels], height, LEAST[1]), strict=True
            ):
                rectangles.append(Rectangle(panel, x, y, wide, high))
                y += high
            x += wide + 1
        return tuple(rectangles)

    def too_small(self, width: int, height: int) -> bool:
        """Return whether a terminal is smaller than `SMALLEST`.

        `width` and `height` are the cells that the terminal has for panels.
        """
        return width < SMALLEST[0] or height + FRAME < SMALLEST[1]

    @property
    def visible(self) -> list[str]:
        """The panels that a terminal of 80 x 24 cells shows."""
        return [box.panel for box in self.rectangles(80, 24 - FRAME)]

    def note_change(self) -> None:
        """Increment `version`, so that the screen is drawn again."""
        self.version += 1

    def show(self, panel: str) -> None:
        """Show a panel; it replaces the last panel that this method has shown.

        If a panel fills the screen (`zoom`), the new panel fills it instead.
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
        """Multiply a panel's share of its column's height by a factor."""
        self.shares[panel] = min(MOST, max(1 / MOST, self.shares.get(panel, 1.0) * factor))
        self.note_change()

    def zoom(self, panel: str) -> None:
        """Let a panel fill the screen; an empty name shows all panels again."""
        self.zoom_panel = panel
        self.note_change()

    def reset(self, name: str) -> None:
        """Choose a layout and discard the user's changes to it."""
        self.name, self.zoom_panel, self.active = name, "", ""
        self.extra_panels, self.hidden_panels, self.shares, self.scroll = [], [], {}, {}
        self.note_change()

    def plain(self) -> dict[str, Any]:
        """Return the settings that a file keeps between sessions."""
        return {"layout": self.name, "shown": self.extra_panels, "hidden": self.hidden_panels,
                "shares": self.shares, "heat": self.heat, "mouse": self.mouse}  # fmt: skip

    def take(self, settings: Mapping[str, Any]) -> None:
        """Apply the settings that `plain` has returned; invalid settings are ignored."""
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
        if isinstance(settings.get("heat"), str):
            self.heat = settings["heat"]
        self.note_change()


FRAME = 3  # rows of the screen besides the panels: status, input, keys


def divide(shares: list[float] | list[int], total: int, least: int) -> list[int]:
    """Return `total` divided into whole numbers in proportion to `shares`.

    Each number is `least` or more, if the total is large enough for that.
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
