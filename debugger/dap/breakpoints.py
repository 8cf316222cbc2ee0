"""Sets the breakpoints, watches and caught events of an editor as points of the session.

The editor sends all points of one group together. A group has the points of one source file, or all
points of functions, instructions, data or events. A point that was in the group before remains the
same point, with its count of hits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from macaw.debugger.dap.connection import RequestError
from macaw.debugger.dap.threads import source_record
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.point import PointError

if TYPE_CHECKING:
    from macaw.debugger.session import Session
    from macaw.debugger.stops import StopRecord

FUNCTIONS, INSTRUCTIONS, DATA, EVENTS = "function", "instruction", "data", "exception"
# by the protocol's `accessType`
KINDS = {"write": "watch", "read": "rwatch", "readWrite": "awatch"}
NO_DEBUG = "the program runs without debugging"
_HITS = re.compile(r"\s*(>=|>|)\s*(\d{1,9})\s*")
_EXPRESSION = re.compile(r"\{([^{}]*)\}")


class Spec(NamedTuple):
    """A point as an editor has requested it; if it cannot be set, `error` says why.

    Its first `ignore` hits do not stop a run. For a dprintf, `form` is the format and `values` has
    the expressions. `focus` is the focus of a watch.
    """

    kind: str  # an item of `macaw.debugger.point.KINDS`
    text: str
    condition: str = ""
    ignore: int = 0
    form: str = ""
    values: tuple[str, ...] = ()
    focus: str = ""
    error: str = ""


@dataclass
class EditorPoint:
    """A breakpoint, watch or caught event that the editor has sent.

    `number` is the number of the session's point for it, or None if the session could not set a
    point.
    """

    id: int
    spec: Spec
    number: int | None = None
    message: str = ""


class Breakpoints:
    """All points that one editor has set."""

    def __init__(self) -> None:
        # by group, and by specification and its number among equal ones
        self.groups: dict[str, dict[tuple[Spec, int], EditorPoint]] = {}
        self.is_off = False  # with `noDebug`, no point is set
        self._session: Session | None = None
        self._last = 0

    def connect(self, session: Session) -> None:
        """Set all points again in another session, because the program was loaded again."""
        self._session = session
        for point in self:
            self._set(point)

    def __iter__(self) -> Iterator[EditorPoint]:
        return (point for group in self.groups.values() for point in group.values())

    def replace(self, group: str, specs: Iterable[Spec]) -> list[dict[str, Any]]:
        """Replace the points of `group` by `specs`; return the protocol's record of each."""
        before = self.groups.get(group, {})
        now: dict[tuple[Spec, int], EditorPoint] = {}
        equal: Counter[Spec] = Counter()
        wanted = []
        for spec in specs:
            wanted.append((spec, equal[spec]))
            equal[spec] += 1
        for key in before.keys() - set(wanted):
            self._delete(before[key])
        for key in wanted:
            point = before.get(key)
            if point is None:
                self._last += 1
                point = EditorPoint(self._last, key[0])
                self._set(point)
            now[key] = point
        self.groups[group] = now
        return [self.record(point) for point in now.values()]

    def _set(self, point: EditorPoint) -> None:
        spec, session = point.spec, self._session
        point.number, point.message = None, spec.error or (NO_DEBUG if self.is_off else "")
        if point.message or session is None:
            return
        names = ("condition", "ignore", "form", "values")
        more: dict[str, Any] = {name: getattr(spec, name) for name in names}
        if spec.focus:
            more["focus"] = (spec.focus,)
        try:
            point.number = session.points.add(spec.kind, spec.text, **more).number
        except (PointError, ExpressionError) as error:
            point.message = str(error)

    def _delete(self, point: EditorPoint) -> None:
        points = None if self._session is None else self._session.points
        if points is not None and point.number in points.all:
            points.delete(point.number)

    def record(self, point: EditorPoint) -> dict[str, Any]:
        """Return the protocol's record of a point, with the source line at which it is."""
        record: dict[str, Any] = {"id": point.id, "verified": point.number is not None}
        if point.message:
            record["message"] = point.message
        session = self._session
        if session is None or point.number not in session.points.all:
            return record
        addresses = session.points.get(point.number).addresses
        if addresses:
            record["instructionReference"] = f"{addresses[0]:#010x}"
            line = session.program.line_at(addresses[0])
            if line is not None:
                record |= {"source": source_record(line.file), "line": line.line}
        return record

    def drop_deleted(self) -> list[dict[str, Any]]:
        """Drop the points that a command has deleted; return their records in the protocol."""
        points = {} if self._session is None else self._session.points.all
        dropped = [x for x in self if x.number is not None and x.number not in points]
        for point in dropped:
            for group in self.groups.values():
                for key in [key for key, one in group.items() if one is point]:
                    del group[key]
        return [{"id": point.id, "verified": False} for point in dropped]

    def points_hit(self, stop: StopRecord) -> list[tuple[str, EditorPoint]]:
        """Return (kind of the group, point) for each point of the editor that has caused a stop."""
        numbers = {hit.number for hit in stop.hits}
        return [
            (name.partition(":")[0], point)
            for name, group in self.groups.items()
            for point in group.values()
            if point.number in numbers
        ]


def break_spec(location: str, condition: str = "", hits: str = "", message: str = "") -> Spec:
    """Return a breakpoint, or with a `message` a dprintf, from texts that the user has typed.

    `hits` is a hit condition (`ignore_of`). If it is wrong, the result has an `error`.
    """
    try:
        ignore = ignore_of(hits)
    except RequestError as error:
        return Spec("break", location, condition, error=str(error))
    if not message:
        return Spec("break", location, condition, ignore)
    if ignore:
        problem = "a message has no hit count; a condition can count"
        return Spec("dprintf", location, condition, error=problem)
    form, values = parse_log_message(message)
    return Spec("dprintf", location, condition, form=form, values=values)


def ignore_of(hits: str) -> int:
    """Return how many hits are ignored before the hit condition `hits` is true.

    `N` and `>= N` are true at hit N and at all later hits, `> N` at later hits only. Raises
    `RequestError`.
    """
    if not hits.strip():
        return 0
    match = _HITS.fullmatch(hits)
    if match is None:
        raise RequestError(f"a hit count is N, >= N or > N, not '{hits[:40]}'")
    return int(match[2]) if match[1] == ">" else max(0, int(match[2]) - 1)


def parse_log_message(message: str) -> tuple[str, tuple[str, ...]]:
    """Return the format and the expressions of a log message such as `s0 is {s0}`."""
    values = tuple(match[1].strip() for match in _EXPRESSION.finditer(message))
    form = _EXPRESSION.sub("\0", message).replace("%", "%%").replace("\0", "%s")
    return form, values
