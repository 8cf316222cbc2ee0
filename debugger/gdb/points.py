"""The breakpoints and watches that gdb has set in a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from macaw.debugger.point import PointError
from macaw.debugger.stops import SessionError

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.debugger.stops import Hit, StopRecord

SOFTWARE, HARDWARE = 0, 1
_ACCESSES = {2: "write", 3: "read", 4: "access"}
_NAMES = {2: "watch", 3: "rwatch", 4: "awatch"}  # the names of the kinds of watches in stop replies
_REASONS = {SOFTWARE: "swbreak", HARDWARE: "hwbreak"}


class GdbPoint(NamedTuple):
    """A breakpoint or watch of gdb: kind (the number in `Z` packets), address, size in bytes."""

    kind: int  # the kind of the packets `Z` and `z`, 0 to 4
    address: int
    size: int


class GdbPoints:
    """The points that gdb has set; each of them is a point of the session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._numbers: dict[GdbPoint, int] = {}  # numbers of the session's points

    def insert(self, point: GdbPoint) -> None:
        """Set a point, unless it is already set. Raises `SessionError`."""
        if self._numbers.get(point) in self.session.points.all:
            return
        try:
            if point.kind in _ACCESSES:
                access = _ACCESSES[point.kind]
                new = self.session.watch_range(point.address, point.size, access)
            else:
                new = self.session.break_(f"*{point.address:#x}")
        except PointError as error:
            raise SessionError(str(error)) from None
        self._numbers[point] = new.number

    def remove(self, point: GdbPoint) -> None:
        """Delete a point, if it is set."""
        number = self._numbers.pop(point, None)
        if number in self.session.points.all:
            self.session.points.delete(number)

    def clear(self) -> None:
        """Delete all points that gdb has set, but not the points that `monitor` has set."""
        for point in list(self._numbers):
            self.remove(point)

    def point_hit(self, stop: StopRecord) -> tuple[GdbPoint, Hit] | None:
        """Return the point of gdb that has caused a stop, with its hit; None if there is none.

        If both a watch and a breakpoint have caused the stop, return the watch.
        """
        hits = {hit.number: hit for hit in stop.hits}
        mine = [(point, hits[n]) for point, n in self._numbers.items() if n in hits]
        return max(mine, key=lambda item: item[0].kind, default=None)

    def has(self, number: int) -> bool:
        """Return whether gdb has set the session's point with this number."""
        return number in self._numbers.values()


def reason_of(point: GdbPoint) -> str:
    """Return the text with which a stop reply names a point, such as `watch:80001000`."""
    if point.kind in _NAMES:
        return f"{_NAMES[point.kind]}:{point.address:x}"
    return f"{_REASONS[point.kind]}:"
