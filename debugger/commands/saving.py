"""Saves points and whole sessions as commands, which the command `source` executes again."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.blocks import END
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.points import point_text
from macaw.debugger.commands.screen import STEP
from macaw.debugger.commands.session_format import FORMAT, FORMAT_LINE, HEAD
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import counted
from macaw.debugger.expressions import ExpressionError
from macaw.debugger.history import Position
from macaw.debugger.layout import MOST, Arrangement
from macaw.debugger.places import Place, PlaceError, compact, places
from macaw.debugger.point import Point, PointError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

SESSION = "session.macaw"  # the default name of a session's file
_SIZES = 20  # more than the steps from a panel's least to its greatest height


@command(
    "save breakpoints|session [FILE]",
    "rest",
    "write all points, or the session, as commands for `source`",
    details="session: position, checkpoints, edits, points, displays, focus and layout; default\n"
    f"FILE is {SESSION}. `source` or `macaw debug -x` restores it with the same program and\n"
    "inputs. Hits are counted again from 0. Data from `load` stay in their files.",
)
def _save(context: Context, line: Line) -> Answer:
    (what,) = line.words
    name = line.get("FILE")
    if what == "session":
        return _save_session(context, name or SESSION)
    if not name:
        raise CommandError("the name of a file is needed", "save breakpoints FILE")
    points = list(context.session.points)
    lines = [text for point in points for text in point_lines(point)]
    _write(context, name, lines)
    return answers.message(f"{counted(len(points), 'point')} in {name}")


def _save_session(context: Context, name: str) -> Answer:
    files = context.files
    if files.exists(name) and not files.read_text(name).startswith(HEAD):
        raise CommandError(f"{name} exists and is not a session", "save session FILE")
    lines = list(session_lines(context))
    notes = [line for line in lines if line.startswith("# not kept: ")]
    _write(context, name, lines)
    session = context.session
    counts = [
        counted(len(session.points.all), "point"),
        counted(len(context.displays.rows), "display"),
        counted(sum(bool(point.number) for point in session.checkpoints), "checkpoint"),
        counted(sum(len(point.edits) for point in session.checkpoints), "edit"),
    ]
    return answers.message(
        f"cycle {session.device.cycle:,}, {', '.join(counts)} in {name}",
        *(line.removeprefix("# ") for line in notes),
    )


def _write(context: Context, name: str, lines: list[str]) -> None:
    context.files.write_text(name, "".join(f"{text}\n" for text in lines))


def point_lines(point: Point) -> Iterator[str]:
    """Yield the commands that set a point again, with all its properties."""
    condition, ignore = "", 0
    # only `break` and `tbreak` have the word `ignore`; for others, the command `ignore` follows
    if point.kind not in ("break", "tbreak"):
        ignore = point.ignore
    if point.kind == "dprintf":
        condition = point.condition
    yield f"{point.command} {point_text(point, condition=not condition, ignore=not ignore)}"
    if condition:
        yield f"condition last {condition}"
    if ignore:
        yield f"ignore last {ignore}"
    if any(";" in text or text[0].isspace() for text in point.commands):
        yield from ("commands", *point.commands, END)
    elif point.commands:
        yield f"commands {'; '.join(point.commands)}"
    if not point.enabled:
        yield "disable last"


def session_lines(context: Context) -> Iterator[str]:
    """Yield the commands that restore a session: layout, run, points, displays and focus."""
    session = context.session
    files = ", ".join(PurePath(file).name for file in session.program.source_files)
    yield f"{HEAD}{f': {files}' if files else ''}, at cycle {session.device.cycle:,}"
    yield f"{FORMAT_LINE}{FORMAT}"
    yield "start"
    yield from _layout_lines(context.arrangement)
    yield from _run_lines(context)
    yield "delete"
    yield from _points_lines(context)
    yield "undisplay"
    yield from _displays_lines(context)
    yield f"focus {compact(session.device, session.focus)}"
    if context.arrangement.heat:
        yield f"heat {context.arrangement.heat}"


def _run_lines(context: Context) -> Iterator[str]:
    """Yield the commands that repeat the run: edits at their positions, checkpoints, the end."""
    session = context.session
    points = session.checkpoints
    for point in points:
        if point.edits:
            yield _goto(point.position)
        for edit in point.edits:
            if edit.command:
                yield f"focus {edit.focus}"
                yield edit.command
            else:
                yield f"# not kept: what was set at cycle {point.position[0]:,} by no command"
    for point in sorted((x for x in points if x.number), key=lambda x: x.number):
        yield _goto(point.position)
        yield f"checkpoint {point.number}"
    yield _goto(session.device.position)


def _goto(position: Position) -> str:
    cycle, turn = position
    return f"goto {cycle} turn {turn}" if turn else f"goto {cycle}"


def _points_lines(context: Context) -> Iterator[str]:
    """Yield the commands that set all points again with their numbers.

    In place of each deleted point, they add a point and delete it, so that later points get the
    same numbers.
    """
    session = context.session
    last = 0
    focus: tuple[Place, ...] = ()
    for number, point in session.points.all.items():
        for _ in range(number - last - 1):
            yield "catch fault"
            yield "delete last"
        last = number
        if point.focus and point.focus != focus:
            focus = point.focus
            yield f"focus {compact(session.device, focus)}"
        try:
            session.check_point(point)
        except PointError as error:
            yield f"# not kept: {point.command} {point_text(point)}: {error}"
            yield from ("catch fault", "delete last")
            continue
        yield from point_lines(point)


def _displays_lines(context: Context) -> Iterator[str]:
    """Yield the commands that set each display again, with its number and its focus."""
    session, displays = context.session, context.displays
    gaps: list[int] = []
    for number, (text, form) in displays.rows.items():
        gap = range(max([0, *gaps, *(n for n in displays.rows if n < number)]) + 1, number)
        yield from ["display 0"] * len(gap)
        gaps += gap
        line, focus = f"display{f'/{form}' if str(form) else ''} {text}", displays.focus[number]
        try:
            session.expression(text, places(session.device, focus)).value()
        except (ExpressionError, PlaceError) as error:
            yield f"# not kept: {line}: {error}"
            yield "display 0"
            gaps.append(number)
            continue
        yield f"focus {focus}"
        yield line
    if gaps:
        yield f"undisplay {' '.join(map(str, gaps))}"


def _layout_lines(arrangement: Arrangement) -> Iterator[str]:
    yield f"layout {arrangement.name}"
    for panel, share in arrangement.shares.items():
        yield from (f"panel {panel} {what} {steps}" for what, steps in _share_steps(share))
    yield from (f"panel {panel} hide" for panel in arrangement.hidden_panels)
    yield from (f"panel {panel} show" for panel in arrangement.extra_panels)
    if arrangement.zoom_panel:
        yield f"zoom {arrangement.zoom_panel}"


def _share_steps(share: float) -> list[tuple[str, int]]:
    """Return the commands that change a panel's height by the factor `share`.

    `share` is 1 for the height that the layout gives to the panel. Each command is (`grow` or
    `shrink`, number of steps); a step changes the factor by `STEP`. The factor starts at 1 and
    stays between 1 / `MOST` and `MOST`. A user who went to one of these limits and back may have
    reached factors that no number of steps from 1 gives. So the function compares three ways: from
    1, from the upper and from the lower limit. It returns the way that comes nearest to `share`.
    """
    ways: list[tuple[float, list[tuple[str, int]]]] = []
    for begin, way in ((1.0, []), (MOST, [("grow", _SIZES)]), (1 / MOST, [("shrink", _SIZES)])):
        steps = round(math.log(share / begin, STEP))
        word = "grow" if steps > 0 else "shrink"
        more = [(word, abs(steps))] if steps else []
        ways.append((abs(begin * STEP**steps / share - 1), [*way, *more]))
    return min(ways, key=lambda way: (round(way[0], 6), len(way[1])))[1]
