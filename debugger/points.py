"""The breakpoints, watches and caught events of a session, stored by number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from macaw.debugger.places import Place, PlaceError, places
from macaw.debugger.point import WATCHES, Point, PointError
from macaw.debugger.point_checks import check_point

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee


class Points:
    """The points of a session, by number from 1. No number is ever used twice."""

    def __init__(self, debuggee: Debuggee) -> None:
        self.debuggee = debuggee
        self.all: dict[int, Point] = {}
        self.version = 0  # grows with each change that may affect a run
        self._last_number = 0
        self._left_commands: dict[int, tuple[str, ...]] = {}  # of temporary points that have gone

    def __iter__(self) -> Iterator[Point]:
        return iter(self.all.values())

    @property
    def active(self) -> list[Point]:
        """The points that are enabled."""
        return [point for point in self.all.values() if point.enabled]

    @property
    def can_stop(self) -> bool:
        """Whether an enabled point can stop a run; a dprintf cannot."""
        return any(point.enabled and point.kind != "dprintf" for point in self)

    def add(self, kind: str, text: str, **more: Any) -> Point:
        """Add a point and return it. Raises `PointError` if one of its texts has no meaning.

        `more` may contain condition, ignore, by, place, commands, form, values, enabled, temporary,
        and focus as texts of places.
        """
        focus = more.pop("focus", ())
        point = Point(self._last_number + 1, kind, text, **more)
        if kind in WATCHES:
            point.focus = self._places(focus) or self.debuggee.focus
        point.temporary |= kind == "tbreak"
        check_point(self.debuggee, point)
        self._last_number += 1
        self.all[point.number] = point
        self.version += 1
        return point

    def _places(self, texts: Iterable[str]) -> tuple[Place, ...]:
        try:
            return tuple(one for text in texts for one in places(self.debuggee.device, text))
        except PlaceError as error:
            raise PointError(str(error)) from None

    def get(self, number: int) -> Point:
        """Return the point with this number. Raises `PointError`."""
        if number not in self.all:
            raise PointError(f"there is no point {number}")
        return self.all[number]

    def change(self, number: int, **changes: Any) -> Point:
        """Change fields of a point: enabled, condition, ignore or commands. Raises `PointError`."""
        point = self.get(number)
        before = {name: getattr(point, name) for name in changes}
        for name, value in changes.items():
            setattr(point, name, value)
        try:
            # Only a new condition needs the check. The text of a point that was set has a meaning,
            # although its value may not exist now: a watched element depends on a register.
            if "condition" in changes:
                check_point(self.debuggee, point)
        except PointError:
            for name, value in before.items():
                setattr(point, name, value)
            raise
        self.version += 1
        return point

    def delete(self, number: int) -> None:
        """Delete a point. Raises `PointError`."""
        self.get(number)
        del self.all[number]
        self.version += 1

    def delete_temporary(self, number: int) -> None:
        """Delete a point that has stopped a run if it is temporary, but keep its commands."""
        point = self.all.get(number)
        if point is not None and point.temporary:
            self._left_commands[number] = point.commands
            self.delete(number)

    def commands_of(self, number: int) -> tuple[str, ...]:
        """Return the commands that a stop at the point with this number leads to."""
        point = self.all.get(number)
        return self._left_commands.get(number, ()) if point is None else point.commands

    def clear(self) -> None:
        """Delete all points."""
        self.all.clear()
        self.version += 1

    def plain(self) -> list[dict[str, Any]]:
        """Return a record, as files store it, for each point that is not temporary."""
        return [point.plain() for point in self.all.values() if not point.temporary]

    def load(self, items: Iterable[dict[str, Any]]) -> list[Point]:
        """Add points from records that `plain` has returned: all of them, or none if one fails.

        Raises `PointError`.
        """
        points: list[Point] = []
        try:
            for item in items:
                more: dict[str, Any] = {
                    k: tuple(v) if isinstance(v, list) else v for k, v in item.items()
                }
                try:
                    points.append(self.add(**more))
                except TypeError:
                    raise PointError(f"that is no point: {item}") from None
        except PointError:
            for point in points:
                self.delete(point.number)
            raise
        return points
