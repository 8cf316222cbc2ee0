"""Breakpoints, watches and events: what stops a run, as the user has set them.

A breakpoint at an address is a break of the cores that execute there (`macaw.emu.core`, "Breaks"):
fast engines run up to it at full speed, and ask conditions over registers inside translated code.
Everything else listens to announcements, and is looked at after each act of the cores that it
is about (`macaw.debugger.watching`).
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from macaw.debugger.changes import change_of
from macaw.debugger.expressions import Expression, ExpressionError, compiled
from macaw.debugger.locations import LocationError, locate, targets
from macaw.debugger.places import Place, PlaceError, places
from macaw.debugger.stops import Hit
from macaw.isa.common import EVENTS

if TYPE_CHECKING:
    from macaw.debugger.locations import Target
    from macaw.debugger.session import Session
    from macaw.emu.core import Core
    from macaw.isa.model import Event

BREAKS = ("break", "tbreak", "dprintf")
WATCHES = ("watch", "rwatch", "awatch")
KINDS = (*BREAKS, *WATCHES, "catch")
WIDEST = 1000  # characters, and digits after the point, that a dprintf may ask for
_CONVERSION = re.compile(r"%[-#0 +]*(\d*|\*)(?:\.(\d+|\*))?([a-zA-Z%])")
_BITS = ("x", "X", "o")


class PointError(ValueError):
    """A point that cannot be; the message is fit for a user."""


@dataclass
class Point:
    """One breakpoint, watch or event. `text` is what it is about, as the user wrote it."""

    number: int
    kind: str  # of KINDS
    text: str
    condition: str = ""
    ignore: int = 0  # how often it is passed yet
    hits: int = 0
    enabled: bool = True
    temporary: bool = False
    by: str = ""  # of a watch: the places whose accesses count
    place: str = ""  # of an event, a breakpoint: where
    commands: tuple[str, ...] = ()
    form: str = ""  # of a dprintf: the text that it prints
    values: tuple[str, ...] = ()  # and the expressions in it
    focus: tuple[Place, ...] = ()  # of a watch whose names depend on it: that of its making
    addresses: tuple[int, ...] = field(default=(), compare=False)

    def plain(self) -> dict[str, Any]:
        """What a file keeps of it: no empty fields, nothing of the run."""
        kept = ("kind", "text", "condition", "ignore", "by", "place", "commands", "form", "values")
        found = {name: getattr(self, name) for name in kept if getattr(self, name)}
        found = {name: list(x) if isinstance(x, tuple) else x for name, x in found.items()}
        if self.focus:
            found["focus"] = [str(place) for place in self.focus]
        return found if self.enabled else {**found, "enabled": False}

    def hit(self, by: str = "", **more: Any) -> Hit:
        """The record of its being met."""
        return Hit(self.number, self.kind, self.text, self.hits, by, **more)


class Points:
    """The points of a session, by number from 1; numbers are never used again."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.all: dict[int, Point] = {}
        self.version = 0  # changes with everything that may matter to a run
        self._given = 0

    def __iter__(self) -> Iterator[Point]:
        return iter(self.all.values())

    @property
    def active(self) -> list[Point]:
        """Those that are looked at in a run."""
        return [point for point in self.all.values() if point.enabled]

    @property
    def stopping(self) -> bool:
        """Whether a point is there that can stop a run."""
        return any(point.enabled and point.kind != "dprintf" for point in self)

    def add(self, kind: str, text: str, **more: Any) -> Point:
        """Add a point. Raises `PointError` if what it says means nothing.

        More: condition, ignore, by, place, commands, form, values, enabled; focus, as texts.
        """
        focus = more.pop("focus", ())
        point = Point(self._given + 1, kind, text, **more)
        if kind in WATCHES:
            point.focus = self._focus(focus) or self.session.focus
        point.temporary |= kind == "tbreak"
        self.check(point)
        self._given += 1
        self.all[point.number] = point
        self.version += 1
        return point

    def _focus(self, texts: Iterable[str]) -> tuple[Place, ...]:
        try:
            return tuple(one for text in texts for one in places(self.session.device, text))
        except PlaceError as error:
            raise PointError(str(error)) from None

    def check(self, point: Point) -> None:
        """Raise `PointError` unless all that a point says means something; find its addresses."""
        try:
            if point.kind not in KINDS:
                raise PointError(f"there is no point of the kind {point.kind}")
            if point.kind == "dprintf":
                _check_form(point.form)
            if point.kind in BREAKS:
                if not point.addresses:  # found once: what a line means depends on the focus
                    found = locate(self.session, point.text)
                    point.text, point.addresses = found.text, found.addresses
            elif point.kind in WATCHES:
                self._check_watch(point)
            else:
                self._check_event(point)
            for text in (point.by, point.place):
                if text:
                    places(self.session.device, text)
            if point.kind in BREAKS and point.place:
                self._check_place(point)
            if point.kind == "catch" and point.condition:
                self._check_condition(point)
            for core in self.cores(point):
                for text in filter(None, (point.condition, *point.values)):
                    compiled(self.session, text, (Place(core.name),))
        except (LocationError, ExpressionError, PlaceError) as error:
            raise PointError(str(error)) from None

    def _check_condition(self, point: Point) -> None:
        """For one of the cores that may do it the condition has to mean something."""
        where = places(self.session.device, point.place) if point.place else ()
        seen = where or tuple(Place(core.name) for core in self.session.device.order)
        for place in seen:
            with contextlib.suppress(ExpressionError):
                compiled(self.session, point.condition, (place,))
                return
        compiled(self.session, point.condition, seen[:1])

    def _check_event(self, point: Point) -> None:
        """Each of the places has to be one where the event can be."""
        device, event = self.session.device, event_of(self.session, point.text)
        where = places(device, point.place) if point.place else ()
        for core in (device.cores[name] for name in dict.fromkeys(x.core for x in where)):
            if event.announced and event not in core.table.events:
                kinds = {
                    x.table.name: x.table.title for x in device.order if event in x.table.events
                }
                does = " and ".join(f"{name} ({title})" for name, title in kinds.items())
                raise PointError(f"{event.name} happens on {does}, never on {core.name}")
            change = change_of(event.name, device, core, [])
            if change is not None and change.lacks:
                raise PointError(f"{core.name} has no {change.lacks}: {event.name} is never there")

    def _check_place(self, point: Point) -> None:
        found = self.cores(point)
        if not found:
            raise PointError(f"{point.place} executes nothing at {point.text}")
        for place in places(self.session.device, point.place):
            if place.units and any(core.name == place.core and core.halts for core in found):
                raise PointError(f"{place.core} stops as a whole, not at {place} alone")

    def _check_watch(self, point: Point) -> None:
        focus = point.focus or self.session.focus
        found = compiled(self.session, point.text, focus)
        found.value()
        if not found.accesses:
            raise PointError(f"{point.text} never changes")
        condition = point.condition and compiled(self.session, point.condition, focus)
        is_focused = found.focused or (condition and condition.focused)
        point.focus = focus if is_focused else ()
        if point.kind == "watch":
            return
        for access, _ in found.accesses:
            if not (access.memory or access.registers or access.queues):
                raise PointError(
                    f"{point.kind} is of memory, registers and queues, and {access.text} is none;"
                    " `watch` is of anything that changes"
                )

    def cores(self, point: Point) -> list[Core]:
        """The cores that a breakpoint is about."""
        return list({target.core.name: target.core for target in self.targets(point)}.values())

    def targets(self, point: Point) -> list[Target]:
        """Where a breakpoint stops, in the cores to which `at` narrows it."""
        found = [x for address in point.addresses for x in targets(self.session, address)]
        if not point.place:
            return found
        names = {place.core for place in places(self.session.device, point.place)}
        return [target for target in found if target.core.name in names]

    def get(self, number: int) -> Point:
        """The point of that number. Raises `PointError`."""
        if number not in self.all:
            raise PointError(f"there is no point {number}")
        return self.all[number]

    def change(self, number: int, **changes: Any) -> Point:
        """Change a point: enabled, condition, ignore, commands. Raises `PointError`."""
        point = self.get(number)
        before = {name: getattr(point, name) for name in changes}
        for name, value in changes.items():
            setattr(point, name, value)
        try:
            self.check(point)
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

    def clear(self) -> None:
        """Delete all."""
        self.all.clear()
        self.version += 1

    def plain(self) -> list[dict[str, Any]]:
        """All that a file keeps."""
        return [point.plain() for point in self.all.values() if not point.temporary]

    def load(self, items: Iterable[dict[str, Any]]) -> list[Point]:
        """Add what `plain` gave, or nothing of it. Raises `PointError`."""
        added: list[Point] = []
        try:
            for item in items:
                more: dict[str, Any] = {
                    k: tuple(v) if isinstance(v, list) else v for k, v in item.items()
                }
                try:
                    added.append(self.add(**more))
                except TypeError:
                    raise PointError(f"that is no point: {item}") from None
        except PointError:
            for point in added:
                self.delete(point.number)
            raise
        return added


def _check_form(form: str) -> None:
    """What a text makes of values has to have an end. Raises `PointError`."""
    for match in _CONVERSION.finditer(form):
        for width in filter(None, match.groups()[:2]):
            if width == "*" or len(width) > 9 or int(width) > WIDEST:
                raise PointError(f"{match[0]}: a width is a number, {WIDEST} at most")


def formed(form: str, values: Sequence[Any]) -> str:
    """The text of a dprintf. Raises `ValueError`."""
    letters = [match[3] for match in _CONVERSION.finditer(form) if match[3] != "%"]
    letters += [""] * (len(values) - len(letters))
    found = (
        _unsigned(value) if letter in _BITS and isinstance(value, int) else value
        for letter, value in zip(letters, values, strict=False)
    )
    try:
        return form % tuple(found)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _unsigned(value: int) -> int:
    """The bits of a register, which is a signed number in expressions."""
    bits = 32 if value >= -(1 << 31) else 64
    return value & (1 << bits) - 1 if value < 0 else value


def events(session: Session) -> dict[str, Event]:
    """What can be caught on this device, by name."""
    rows = [row for core in session.device.order for row in core.table.events]
    return {row.name: row for row in (*EVENTS, *rows)}


def event_of(session: Session, name: str) -> Event:
    """The event of that name. Raises `PointError`."""
    found = events(session)
    if name not in found:
        raise PointError(f"no event is called '{name}', there are {', '.join(found)}")
    return found[name]


def condition_of(session: Session, point: Point, place: Place) -> Expression | None:
    """A point's condition as seen from a place, of a watch from its focus; None: it has none."""
    if not point.condition:
        return None
    try:
        return compiled(session, point.condition, point.focus or (place,))
    except ExpressionError as error:  # of this core: who catches an event has asked no other
        return Expression(point.condition, partial(_raised, error))


def _raised(error: ExpressionError) -> None:
    raise error
