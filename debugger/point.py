"""One breakpoint, watch or event, as the user has set it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from macaw.debugger.places import Place
from macaw.debugger.stops import Hit

BREAKS = ("break", "tbreak", "dprintf")
WATCHES = ("watch", "rwatch", "awatch")
KINDS = (*BREAKS, *WATCHES, "catch")


class PointError(ValueError):
    """A point that cannot be set; the message is fit for a user."""


@dataclass
class Point:
    """One breakpoint, watch or event. `text` says where or what, as the user wrote it."""

    number: int
    kind: str  # of KINDS
    text: str
    condition: str = ""
    ignore: int = 0  # how many more times a run passes it
    hits: int = 0
    enabled: bool = True
    temporary: bool = False
    by: str = ""  # of a watch: the places whose accesses count
    place: str = ""  # of an event, a breakpoint: the places where it counts
    commands: tuple[str, ...] = ()
    form: str = ""  # of a dprintf: the format of its text
    values: tuple[str, ...] = ()  # and the expressions in it
    focus: tuple[Place, ...] = ()  # of a watch that names something of the focus: that focus
    addresses: tuple[int, ...] = field(default=(), compare=False)  # of a breakpoint

    def plain(self) -> dict[str, Any]:
        """The fields that a file keeps: none that are empty, nothing of the run."""
        names = ("kind", "text", "condition", "ignore", "by", "place", "commands", "form", "values")
        fields = {name: getattr(self, name) for name in names if getattr(self, name)}
        fields = {name: list(x) if isinstance(x, tuple) else x for name, x in fields.items()}
        if self.focus:
            fields["focus"] = [str(place) for place in self.focus]
        return fields if self.enabled else {**fields, "enabled": False}

    def hit(self, by: str = "", **more: Any) -> Hit:
        """The record of a stop at it; `by` is the core that did it, `more` are fields of `Hit`."""
        return Hit(self.number, self.kind, self.text, self.hits, by, **more)
