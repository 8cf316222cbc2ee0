"""Counts hits of points, and decides by conditions and `ignore` counts which points stop a run.

The module also prints the texts of `dprintf`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from macaw.debugger.dprintf import dprintf_text
from macaw.debugger.expressions import Expression, ExpressionError, compile_expression
from macaw.debugger.places import Place
from macaw.debugger.point import Point
from macaw.debugger.stops import Hit

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee


class HitCounter:
    """Counts the hits of points in one run; `hits` has the hits that stop the run."""

    def __init__(self, debuggee: Debuggee) -> None:
        self.debuggee = debuggee
        self.hits: list[Hit] = []
        self.scanning = False  # whether to count and print nothing, during a search in the past
        self._conditions: dict[tuple[int, Place], Expression | None] = {}

    def prepare(self) -> None:
        """Drop the compiled conditions after a change of points or of the device."""
        self._conditions.clear()

    def condition(self, point: Point, place: Place) -> Expression | None:
        """Return the compiled condition of a point, or None if the point has no condition.

        Short names in the condition refer to `place` or, for a watch, to the watch's own focus.
        """
        key = point.number, place
        if key not in self._conditions:
            self._conditions[key] = self._compile(point, place)
        return self._conditions[key]

    def _compile(self, point: Point, place: Place) -> Expression | None:
        if not point.condition:
            return None
        try:
            return compile_expression(self.debuggee, point.condition, point.focus or (place,))
        # for `catch` it is enough that the condition has a meaning on one core
        except ExpressionError as error:
            return Expression(point.condition, partial(_raise, error))

    def count(
        self,
        point: Point,
        viewpoint: Place,
        by: str,
        place: Place | None = None,
        values: dict[str, Any] | None = None,
        change: tuple[Any, Any] = (None, None),
    ) -> list[Hit]:
        """Count a hit of `point`; return the hit in a list if it stops the run, else no hits.

        If the point's condition is false, nothing is counted. A dprintf prints its text and never
        stops the run. A hit within the point's `ignore` count is counted, but does not stop the
        run. Short names in the point's condition refer to `viewpoint`, short names in a dprintf's
        text to `place`. `by` names the core or place that caused the hit. `values` are the values
        of the announcement. `change` is the old and the new value of a watch.
        """
        condition = self.condition(point, viewpoint)
        more = dict(values or {})
        try:
            if condition is not None and not condition.holds():
                return []
        except ExpressionError as error:
            more["error"] = f"in the condition of point {point.number}: {error}"
        if point.kind == "dprintf":
            if not self.scanning:
                point.hits += 1
                text = dprintf_text(self.debuggee, point, place)
                self.debuggee.write("dprintf", text.encode("utf-8", "replace") + b"\n")
            return []
        if not self.scanning:
            point.hits += 1
            if point.ignore > 0:
                point.ignore -= 1
                return []
        return [point.hit(by, old=change[0], new=change[1], values=more)]


def _raise(error: ExpressionError) -> None:
    raise error
