"""Which panels are where: plain rectangles of character cells, for any size of a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PANELS = {
    "code": "instructions with lines of source",
    "registers": "registers of the focus",
    "queues": "queues of the focus: level, capacity, past, high-water mark",
    "output": "what commands answer and the program writes",
    "memory": "bytes where `x` has looked last",
    "grid": "a cell a unit, coloured by `heat`",
    "counters": "performance counters, and their change since the last stop",
    "stalls": "who waits for what, and whom",
    "timeline": "what cores were at when the run was looked at",
    "watches": "displays, watches and breakpoints",
}
SMALLEST = (60, 16)  # below: one panel and a sentence
MOST = 8.0  # times a panel may be higher or lower than in its layout
LEAST = (12, 3)  # cells of a panel with its title
SENTENCE = "The terminal is small: Alt-digit changes the panel."


@dataclass(frozen=True)
class Box:
    """A panel's rectangle: its first row is the title."""

    panel: str
    x: int
    y: int
    width: int
    height: int


Column = tuple[int, tuple[tuple[str, int], ...]]  # its share of the width; panels, their shares

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


def fitting(width: int, height: int) -> str:
    """The layout that a terminal of a size gets unless another is asked for."""
    if width >= 180 and height >= 45:
        return "large"
    return "medium" if width >= 110 and height >= 34 else "small"


@dataclass
class Arrangement:
    """What the user has asked for. `version` grows with each change."""

    name: str = "auto"
    shown: list[str] = field(default_factory=list)  # asked for beside those of the layout
    hidden: list[str] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)  # factors of height
    zoomed: str = ""
    active: str = ""  # the panel that keys go to; empty: the input line
    mouse: bool = False  # the terminal's mouse is asked for
    heat: str = ""  # an expression; empty: what the units count first
    scroll: dict[str, int] = field(default_factory=dict)  # rows, by panel
    version: int = 0

    def columns(self, width: int, height: int) -> list[tuple[int, list[tuple[str, float]]]]:
        """The columns of the layout with what was asked for put in."""
        name = fitting(width, height) if self.name == "auto" else self.name
        found = [(share, [(panel, float(rows)) for panel, rows in panels])
                 for share, panels in LAYOUTS[name]]  # fmt: skip
        present = {panel for _, panels in found for panel, _ in panels}
        for panel in self.shown:
            if panel not in present:
                # Where the least important one stands: the last of the last column.
                share, panels = found[-1]
                last, rows = panels[-1]
                replaced = (panel, rows)
                found[-1] = (share, [*panels[:-1], replaced] if len(panels) > 1 else [replaced])
                present = present - {last} | {panel}
        kept = [
            (share, [(p, rows * self.shares.get(p, 1.0)) for p, rows in panels
                     if p not in self.hidden])
            for share, panels in found
        ]  # fmt: skip
        return [column for column in kept if column[1]] or [(1, [("code", 1.0)])]

    def boxes(self, width: int, height: int) -> tuple[Box, ...]:
        """The panels on a screen of so many cells, columns with a cell between them."""
        if self.too_small(width, height):
            panel = self.zoomed or self.active or (self.shown[-1] if self.shown else "code")
            return (Box(panel, 0, 0, width, max(1, height)),)
        if self.zoomed:
            return (Box(self.zoomed, 0, 0, width, height),)
        columns = self.columns(width, height)
        widths = divided([share for share, _ in columns], width - len(columns) + 1, LEAST[0])
        found, x = [], 0
        for (_, panels), wide in zip(columns, widths, strict=True):
            panels = panels[: max(1, height // LEAST[1])]
            y = 0
            for (panel, _), high in zip(
                panels, divided([rows for _, rows in panels], height, LEAST[1]), strict=True
            ):
                found.append(Box(panel, x, y, wide, high))
                y += high
            x += wide + 1
        return tuple(found)

    def too_small(self, width: int, height: int) -> bool:
        """Whether the panels' part of the screen belongs to a terminal below `SMALLEST`."""
        return width < SMALLEST[0] or height + FRAME < SMALLEST[1]

    @property
    def visible(self) -> list[str]:
        """The panels of a terminal of 80 x 24."""
        return [box.panel for box in self.boxes(80, 24 - FRAME)]

    def changed(self) -> None:
        """Something of it is another."""
        self.version += 1

    def show(self, panel: str) -> None:
        """Show a panel, and let keys go to it."""
        if panel in self.hidden:
            self.hidden.remove(panel)
        if panel in self.shown:
            self.shown.remove(panel)
        self.shown.append(panel)
        del self.shown[:-1]
        if self.zoomed:
            self.zoomed = panel
        self.changed()

    def hide(self, panel: str) -> None:
        """Show a panel no more."""
        if panel in self.shown:
            self.shown.remove(panel)
        if panel not in self.hidden:
            self.hidden.append(panel)
        self.active = "" if self.active == panel else self.active
        self.zoomed = "" if self.zoomed == panel else self.zoomed
        self.changed()

    def resize(self, panel: str, factor: float) -> None:
        """Change a panel's share of its column."""
        self.shares[panel] = min(MOST, max(1 / MOST, self.shares.get(panel, 1.0) * factor))
        self.changed()

    def zoom(self, panel: str) -> None:
        """Let a panel have the whole screen; none if it is empty."""
        self.zoomed = panel
        self.changed()

    def reset(self, name: str) -> None:
        """Take a layout as it is in the table."""
        self.name, self.zoomed, self.active = name, "", ""
        self.shown, self.hidden, self.shares, self.scroll = [], [], {}, {}
        self.changed()

    def plain(self) -> dict[str, Any]:
        """What is kept between sessions."""
        return {"layout": self.name, "shown": self.shown, "hidden": self.hidden,
                "shares": self.shares, "heat": self.heat, "mouse": self.mouse}  # fmt: skip

    def take(self, kept: Mapping[str, Any]) -> None:
        """Be as a session before has left it; what means nothing here is passed over."""
        if kept.get("layout") in NAMES:
            self.name = kept["layout"]
        for name in ("shown", "hidden"):
            asked = kept.get(name)
            if isinstance(asked, list):
                setattr(self, name, [panel for panel in asked if panel in PANELS])
        shares = kept.get("shares")
        if isinstance(shares, dict):
            self.shares = {
                panel: min(MOST, max(1 / MOST, float(share)))
                for panel, share in shares.items()
                if panel in PANELS and isinstance(share, int | float)
            }
        self.mouse = kept.get("mouse") is True
        if isinstance(kept.get("heat"), str):
            self.heat = kept["heat"]
        self.changed()


FRAME = 3  # rows around the panels: status, input, keys


def divided(shares: list[float] | list[int], total: int, least: int) -> list[int]:
    """Whole parts of a total by shares, each at least so large if there is enough."""
    least = min(least, total // max(1, len(shares)))
    free = total - least * len(shares)
    whole = sum(shares)
    exact = [free * share / whole for share in shares]
    found = [least + int(part) for part in exact]
    order = sorted(range(len(shares)), key=lambda at: int(exact[at]) - exact[at])
    for at in order[: total - sum(found)]:
        found[at] += 1
    return found
