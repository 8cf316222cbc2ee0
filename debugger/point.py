"""Declares a point: a breakpoint, watch or caught event, as the user has set it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from macaw.debugger.places import Place
from macaw.debugger.stops import Hit

BREAKS = ("break", "tbreak", "dprintf")
WATCHES = ("watch", "rwatch", "awatch")
KINDS = (*BREAKS, *WATCHES, "catch")


class PointError(ValueError):
    """Raised for a point that cannot be set; the message is for the user."""


@dataclass
class Point:
    """A breakpoint, watch or caught event.

    `text` is the location, expression or event as the user wrote it; when a breakpoint is set, its
    location becomes independent of the focus (`Location.text`). `by` has the places whose accesses
    count for a watch, `place` the places where a breakpoint or event counts. `form` and `values`
    are the format of a dprintf and the expressions for it. `focus` is the focus of a watch that
    names a member of the focus.
    """

    number: int
    kind: str  # an item of KINDS
    text: str
    condition: str = ""
    ignore: int = 0  # how many more times a run passes the point without a stop
    hits: int = 0
    enabled: bool = True
    temporary: bool = False
    by: str = ""
    place: str = ""
    commands: tuple[str, ...] = ()
    form: str = ""
    values: tuple[str, ...] = ()
    focus: tuple[Place, ...] = ()
    # of a breakpoint, or of the event `layer`
    addresses: tuple[int, ...] = field(default=(), compare=False)

    @property
    def command(self) -> str:
        """The name of the command that sets the point."""
        return "tcatch" if self.kind == "catch" and self.temporary else self.kind

    def plain(self) -> dict[str, Any]:
        """Return the fields to store in a file.

        Empty fields, the number, the hits and the addresses are left out.
        """
        names = ("kind", "text", "condition", "ignore", "by", "place", "commands", "form", "values")
        fields = {name: getattr(self, name) for name in names if getattr(self, name)}
        fields = {name: list(x) if isinstance(x, tuple) else x for name, x in fields.items()}
        if self.focus:
            fields["focus"] = [str(place) for place in self.focus]
        return fields if self.enabled else {**fields, "enabled": False}

    def hit(self, by: str = "", **more: Any) -> Hit:
        """Return the record of a stop at the point.

        `by` is the core or place that caused the stop. `more` are other fields of `Hit`.
        """
        return Hit(self.number, self.kind, self.text, self.hits, by, **more)
