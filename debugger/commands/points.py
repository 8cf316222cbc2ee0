"""Commands that set, change and list breakpoints, watches and caught events."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line, parse_number, parse_ranges
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import counted
from macaw.debugger.dprintf import escape, unescape
from macaw.debugger.locations import LocationError, labels_of_code
from macaw.debugger.point import KINDS, Point, PointError
from macaw.debugger.user_values import set_variable

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST_OF_PATTERN = 1000  # the greatest number of points that one command sets
_PRINTED = re.compile(r'\s*(?P<place>[^,]+?)\s*,\s*"(?P<form>(?:[^"\\]|\\.)*)"\s*(?P<rest>,.*)?')
# a text or a character in quotation marks, or a single character
_PIECES = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|.', re.DOTALL)
_ACCESS = (
    "E: memory, elements of a tensor, registers, queues; by PLACES: only accesses by these cores"
)
_IF = (
    "at PLACES: stop only these cores or clusters, if several execute the same code\n"
    "if E: stop only if E is true; ignore N: do not stop the first N times"
)


def _add(context: Context, line: Line, text: str, **more: Any) -> Answer:
    """Add a point of the kind that the command's name says. Raises `CommandError`.

    `text` is the location, the expression or the event of the point; `more` are other fields of it.
    """
    kind = line.command
    try:
        point = context.session.points.add(kind, text, **more)
    except PointError as error:
        raise CommandError(str(error), at=line.whole) from None
    set_variable(context.session.user_values, "bpnum", point.number)
    return answers.message(
        f"{point.command} {point.number}: {point_text(point)}{_places_of(context, point)}"
    )


def _places_of(context: Context, point: Point) -> str:
    """Return a text with the first address of a point, and the source line at this address.

    If the point has several addresses, the text also says how many more there are. For a point
    without addresses, the text is empty.
    """
    if not point.addresses:
        return ""
    where = context.session.where(address=point.addresses[0])
    line = f" {where.file}:{where.line}" if where.file else ""
    more = f" and {len(point.addresses) - 1} more places" if len(point.addresses) > 1 else ""
    return f", {point.addresses[0]:#010x}{line}{more}"


def point_text(point: Point, condition: bool = True, ignore: bool = True) -> str:
    """Return the operands of a command that sets this point again.

    `condition` and `ignore` say whether the text has the words `if` and `ignore` with their
    operands.
    """
    parts = [point.text]
    if point.kind == "dprintf":
        parts = [", ".join((point.text, f'"{escape(point.form)}"', *point.values))]
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
    aliases=("b", "br", "hbreak"),
    details=_IF,
)(_break)
command(
    "tbreak LOC [at PLACES] [if E] [ignore N]",
    "stop",
    "stop before an instruction once; the breakpoint is then deleted",
    aliases=("tb", "thbreak"),
    details=_IF,
)(_break)


def _watch(context: Context, line: Line) -> Answer:
    text, *conditions = line.all("E")
    condition = conditions[0] if conditions else ""
    by = line.get("PLACES") or ""
    return _add(context, line, text, condition=condition, by=by)


command(
    "watch E [by PLACES] [if E]",
    "stop",
    "stop when a value has changed",
    details="by PLACES: only changes by these cores",
)(_watch)
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


@command("tcatch EVENT [at PLACES] [if E]", "stop", "stop once when an event happens")
def _tcatch(context: Context, line: Line) -> Answer:
    place, condition = line.get("PLACES") or "", line.get("E") or ""
    catch = replace(line, command="catch")
    event = line.get("EVENT") or ""
    return _add(context, catch, event, place=place, condition=condition, temporary=True)


@command(
    "rbreak TEXT",
    "stop",
    "stop before each label of code whose name matches a regular expression",
)
def _rbreak(context: Context, line: Line) -> Answer:
    pattern = compile_pattern(line.get("TEXT") or "")
    labels = labels_of_code(context.session.program)
    names = [symbol.name for symbol in labels if pattern.search(symbol.name)]
    if len(names) > MOST_OF_PATTERN:
        raise CommandError(f"{len(names)} labels match, at most {MOST_OF_PATTERN} are set at once")
    if not names:
        raise CommandError("no label of code matches", "info functions lists them")
    done = [_add(context, replace(line, command="break"), name) for name in names]
    return answers.message(*(text for answer in done for text in answer.lines))


def compile_pattern(text: str) -> re.Pattern[str]:
    """Return a compiled regular expression. Raises `CommandError`."""
    try:
        with warnings.catch_warnings():  # of patterns that a later Python may read differently
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(text)
    except (re.error, OverflowError) as error:
        raise CommandError(f"'{text}' is no regular expression: {error}") from None
    except RecursionError:
        raise CommandError(f"'{text:.40}...' is no regular expression: too many groups") from None


@command(
    "clear [LOC]",
    "stop",
    "delete the breakpoints at a location; without LOC: at the present instruction",
    aliases=("cl",),
)
def _clear(context: Context, line: Line) -> Answer:
    session = context.session
    text = line.get("LOC")
    if text is None:
        here = session.where().address
        if here is None:
            raise CommandError("the focused core is at no instruction", "clear LOC says where")
        text = f"*{here:#x}"
    try:
        addresses = set(session.locate(text).addresses)
    except LocationError as error:
        raise CommandError(str(error)) from None
    points = [x for x in session.points.all.values() if addresses & set(x.addresses)]
    if not points:
        raise CommandError(f"there is no breakpoint at {text}", "info breakpoints lists them")
    for point in points:
        session.points.delete(point.number)
    return answers.message(f"deleted {_numbers(points)}")


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
    form = unescape(match["form"]).removesuffix("\n")
    values = tuple(split_values(match["rest"] or ""))
    return _add(context, line, match["place"], form=form, values=values)


def split_values(text: str) -> list[str]:
    """Return the expressions of `text`, for example of `, a, x[1, 2]`.

    `text` has a comma before each expression. Commas in brackets and in quotation marks belong to
    an expression.
    """
    parts, depth, start = [], 0, 1
    for match in _PIECES.finditer(text):
        piece, at = match[0], match.start()
        depth += (piece in ("(", "[")) - (piece in (")", "]"))
        if piece == "," and not depth and at:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


# Commands on existing points


def _chosen(context: Context, line: Line) -> list[Point]:
    """Return the points that a line names: by `last`, by numbers, by both, or all points."""
    points = context.session.points
    numbers = parse_ranges(line.all("N"), "points")
    if line.has("last"):
        newest = _newest(context).number
        numbers = [newest, *(number for number in numbers if number != newest)]
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
    if line.has("display"):
        return _enable_displays(context, line)
    is_on = line.command == "enable"
    points = _chosen(context, line)
    for point in points:
        context.session.points.change(point.number, enabled=is_on)
    return answers.message(f"{line.command}d {_numbers(points)}")


def _enable_displays(context: Context, line: Line) -> Answer:
    displays = context.displays
    numbers = parse_ranges(line.all("N"), "displays") or list(displays.rows)
    for number in numbers:
        if number not in displays.rows:
            raise CommandError(f"there is no display {number}")
    if line.command == "disable":
        displays.disabled.update(numbers)
    else:
        displays.disabled.difference_update(numbers)
    what = "display" if len(numbers) == 1 else "displays"
    which = ", ".join(map(str, numbers)) or "none"
    return answers.message(f"{line.command}d {what} {which}")


_DISPLAY = "display: displays instead of points"
command(
    "enable [last|display] [N...]",
    "stop",
    "enable points; without operands: all",
    aliases=("en",),
    details=_DISPLAY,
)(_enable)
command(
    "disable [last|display] [N...]",
    "stop",
    "disable points; without operands: all",
    aliases=("dis",),
    details=_DISPLAY,
)(_enable)


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
    return answers.message(f"{point.command} {point.number}: {point_text(point)}")


@command("condition last|N [E]", "stop", "give a point a condition; without E, remove it")
def _condition(context: Context, line: Line) -> Answer:
    return _change(context, line, condition=line.get("E") or "")


@command("ignore last|N V", "stop", "do not stop at a point the next V times")
def _ignore(context: Context, line: Line) -> Answer:
    text = line.get("V") or "0"
    times = context.session.read(text)
    if not isinstance(times, int) or times < 0:
        raise CommandError(f"{text} is no number of times")
    return _change(context, line, ignore=times)


def _chosen_number(context: Context, line: Line) -> int:
    """Return the number of the point whose commands a line `commands` sets.

    Raises `CommandError`.
    """
    text = line.get("N")
    number = _newest(context).number if text is None else parse_number(text, 1)
    try:
        return context.session.points.get(number).number
    except PointError as error:
        raise CommandError(str(error)) from None


@command(
    "commands [N] [TEXT]",
    "stop",
    "execute commands when a point stops: TEXT, separated by ;, or the lines up to `end`",
    details="without N: for the newest point; no line before `end` removes the commands.\n"
    "If the first command is `silent`, the stop is not shown.",
    body=True,
    check=_chosen_number,
)
def _commands(context: Context, line: Line) -> Answer:
    chosen = _chosen_number(context, line)
    parts = [""]
    for match in _PIECES.finditer(line.get("TEXT") or ""):
        if match[0] == ";":
            parts.append("")
        else:
            parts[-1] += match[0]
    lines = tuple(text for text in line.body or map(str.strip, parts) if text.strip())
    context.session.points.change(chosen, commands=lines)
    return answers.message(f"{counted(len(lines), 'command')} of point {chosen}")


@command("silent", "stop", "as the first command of a point: do not show its stops")
def _silent(context: Context, line: Line) -> Answer:
    return answers.message()


def points_table(
    context: Context, kinds: Collection[str] = KINDS, numbers: Collection[int] = ()
) -> Answer:
    """Return a table of the points of these kinds, by default of all kinds.

    If `numbers` is not empty, the table has only the points with these numbers. If a watch was set
    while the focus was another one than now, its row names that focus.
    """
    focus = context.session.focus

    def what(point: Point) -> str:
        is_other = point.focus and point.focus != focus
        return point_text(point) + (f" (of {', '.join(map(str, point.focus))})" if is_other else "")

    rows = [
        (point.number, point.command, "yes" if point.enabled else "no", point.hits, what(point))
        for point in context.session.points.all.values()
        if point.kind in kinds and (not numbers or point.number in numbers)
    ]
    return answers.table(("number", "kind", "enabled", "hits", "what"), rows)
