"""Commands that set, change and list breakpoints, watches and caught events."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line, parse_number
from macaw.debugger.commands.table import command
from macaw.debugger.point import Point, PointError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

_PRINTED = re.compile(r'\s*(?P<place>[^,]+?)\s*,\s*"(?P<form>(?:[^"\\]|\\.)*)"\s*(?P<rest>,.*)?')
_ACCESS = (
    "E: memory, elements of a tensor, registers, queues; by PLACES: only accesses by these cores"
)
_IF = (
    "at PLACES: stop only these cores or clusters, if several execute the same code\n"
    "if E: stop only if E is true; ignore N: do not stop the first N times"
)


def _add(context: Context, line: Line, text: str, **more: Any) -> Answer:
    """Add a point, whose kind is the name of the command. Raises `CommandError`."""
    kind = line.command
    try:
        point = context.session.points.add(kind, text, **more)
    except PointError as error:
        raise CommandError(str(error), at=line.whole) from None
    return answers.message(f"{kind} {point.number}: {point_text(point)}")


def point_text(point: Point, condition: bool = True, ignore: bool = True) -> str:
    """Return the operands of the command that sets a point, with or without `if` and `ignore`."""
    parts = [point.text]
    if point.kind == "dprintf":
        form = point.form.replace('"', '\\"')
        parts = [", ".join((point.text, f'"{form}"', *point.values))]
    parts += [f"{word} {value}" for word, value in (("by", point.by), ("at", point.place)) if value]
    if point.condition and condition:
        parts.append(f"if {point.condition}")
    if point.ignore and ignore:
        parts.append(f"ignore {point.ignore}")
    return " ".join(parts)


def _break(context: Context, line: Line) -> Answer:
    ignore = parse_number(line.get("N") or "0")
    condition = line.get("E") or ""
    place = line.get("LOC")
    if place is None:
        address = context.session.where().address
        if address is None:
            raise CommandError("the focused core is at no instruction", "break LOC says where")
        place = f"*{address:#x}"
    more = {"condition": condition, "ignore": ignore, "place": line.get("PLACES") or ""}
    return _add(context, line, place, **more)


command(
    "break [LOC] [at PLACES] [if E] [ignore N]",
    "stop",
    "stop before an instruction; without LOC: before the present one",
    aliases=("b",),
    details=_IF,
)(_break)
command(
    "tbreak LOC [at PLACES] [if E] [ignore N]",
    "stop",
    "stop before an instruction once; the breakpoint is then deleted",
    aliases=("tb",),
    details=_IF,
)(_break)


def _watch(context: Context, line: Line) -> Answer:
    text, *conditions = line.all("E")
    condition = conditions[0] if conditions else ""
    by = line.get("PLACES") or ""
    return _add(context, line, text, condition=condition, by=by)


command("watch E [by PLACES] [if E]", "stop", "stop when a value has changed")(_watch)
command(
    "rwatch E [by PLACES] [if E]",
    "stop",
    "stop when memory or a register was read, or an item left a queue",
    details=_ACCESS,
)(_watch)
command(
    "awatch E [by PLACES] [if E]",
    "stop",
    "stop when memory or a register was read or written, or an item left or entered a queue",
    details=_ACCESS,
)(_watch)


@command("catch EVENT [at PLACES] [if E]", "stop", "stop when an event happens")
def _catch(context: Context, line: Line) -> Answer:
    place, condition = line.get("PLACES") or "", line.get("E") or ""
    return _add(context, line, line.get("EVENT") or "", place=place, condition=condition)


@command(
    "dprintf TEXT",
    "stop",
    "print a text before an instruction; the run does not stop",
    details='TEXT has the form LOC, "s0 is %d", s0',
)
def _dprintf(context: Context, line: Line) -> Answer:
    match = _PRINTED.fullmatch(line.get("TEXT") or "")
    if match is None:
        raise CommandError("that is no dprintf", 'dprintf LOC, "s0 is %d", s0')
    form = match["form"].replace("\\n", "").replace('\\"', '"')
    values = tuple(_split(match["rest"] or ""))
    return _add(context, line, match["place"], form=form, values=values)


def _split(text: str) -> list[str]:
    """Return the expressions between commas that are outside of brackets."""
    parts, depth, start = [], 0, 1
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth and at:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


# Commands on existing points


def _chosen(context: Context, line: Line) -> list[Point]:
    """Return the points that a line names: by numbers, `last`, or all. Raises `CommandError`."""
    points = context.session.points
    if line.has("last"):
        return [_newest(context)]
    numbers = [parse_number(text, 1) for text in line.all("N")]
    try:
        return [points.get(one) for one in numbers] if numbers else list(points.all.values())
    except PointError as error:
        raise CommandError(str(error)) from None


def _newest(context: Context) -> Point:
    points = context.session.points.all
    if not points:
        raise CommandError("there are no points", "break LOC makes one")
    return points[max(points)]


def _enable(context: Context, line: Line) -> Answer:
    is_on = line.command == "enable"
    points = _chosen(context, line)
    for point in points:
        context.session.points.change(point.number, enabled=is_on)
    return answers.message(f"{line.command}d {_numbers(points)}")


command("enable [last] [N...]", "stop", "enable points; without operands: all")(_enable)
command("disable [last] [N...]", "stop", "disable points; without operands: all")(_enable)


@command("delete [last] [N...]", "stop", "delete points; without operands: all", aliases=("d",))
def _delete(context: Context, line: Line) -> Answer:
    points = _chosen(context, line)
    for point in points:
        context.session.points.delete(point.number)
    return answers.message(f"deleted {_numbers(points)}")


def _numbers(points: list[Point]) -> str:
    return ", ".join(str(point.number) for point in points) or "nothing"


def _change(context: Context, line: Line, **changes: object) -> Answer:
    chosen = _newest(context).number if line.has("last") else line.count()
    try:
        point = context.session.points.change(chosen, **changes)
    except PointError as error:
        raise CommandError(str(error)) from None
    return answers.message(f"{point.kind} {point.number}: {point_text(point)}")


@command("condition last|N [E]", "stop", "give a point a condition; without E, remove it")
def _condition(context: Context, line: Line) -> Answer:
    return _change(context, line, condition=line.get("E") or "")


@command("ignore last|N V", "stop", "do not stop at a point the next V times")
def _ignore(context: Context, line: Line) -> Answer:
    times = context.session.read(line.get("V") or "0")
    if not isinstance(times, int) or times < 0:
        raise CommandError(f"{times} is no number of times")
    return _change(context, line, ignore=times)


@command(
    "commands [N] [TEXT]",
    "stop",
    "execute commands when a point stops; they are separated by ;",
    details="without N: for the newest point; without TEXT: remove the commands",
)
def _commands(context: Context, line: Line) -> Answer:
    text = line.get("N")
    chosen = _newest(context).number if text is None else parse_number(text, 1)
    lines = tuple(filter(None, (part.strip() for part in (line.get("TEXT") or "").split(";"))))
    try:
        context.session.points.change(chosen, commands=lines)
    except PointError as error:
        raise CommandError(str(error)) from None
    return answers.message(f"{len(lines)} commands of point {chosen}")


def points_table(context: Context) -> Answer:
    """Return a table of all points; a watch that was set in another focus names that focus."""
    focus = context.session.focus

    def what(point: Point) -> str:
        is_other = point.focus and point.focus != focus
        return point_text(point) + (f" (of {', '.join(map(str, point.focus))})" if is_other else "")

    rows = [
        (point.number, point.kind, "yes" if point.enabled else "no", point.hits, what(point))
        for point in context.session.points.all.values()
    ]
    return answers.table(("number", "kind", "enabled", "hits", "what"), rows)
