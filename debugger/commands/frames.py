"""Commands for the call stack of the focused core: `backtrace`, `frame`, `up`, `down`.

Assembly code has no frame records, so all registers have the values of the innermost call.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import source_lines
from macaw.debugger.commands.line import CommandError, Line, parse_number
from macaw.debugger.commands.table import command
from macaw.debugger.commands.text import where_text
from macaw.debugger.stops import Where

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

COLUMNS = ("", "address", "in", "line")


@command(
    "backtrace [full] [TEXT]",
    "look",
    "list the calls that led here, by the link register and return addresses on the stack",
    aliases=("bt", "where"),
    details="TEXT is a number: N lists the innermost N calls, -N the outermost N",
)
def _backtrace(context: Context, line: Line) -> Answer:
    frames = list(enumerate(frames_of(context)))
    text = line.get("TEXT")
    if text:
        count = parse_number(text.removeprefix("-"), 1)
        frames = frames[-count:] if text.startswith("-") else frames[:count]
    rows = [_row(number, one) for number, one in frames]
    if context.session.program.network is None:
        return answers.table(COLUMNS, rows)
    layers = [one.layer for _, one in frames]
    return answers.table(
        (*COLUMNS, "layer"), [(*row, layer) for row, layer in zip(rows, layers, strict=True)]
    )


def frames_of(context: Context) -> Sequence[Where]:
    """Return the open calls of the focused core, the innermost first. Raises `CommandError`."""
    session = context.session
    frames = session.call_stack()
    if not frames:
        raise CommandError(f"{session.core.name} is at no instruction")
    return frames


def chosen_frame(context: Context) -> Where:
    """Return the call that the user has chosen, or else the innermost. Raises `CommandError`."""
    frames = frames_of(context)
    return frames[min(context.frame, len(frames) - 1)]


def _row(number: int, one: Where) -> tuple[str | None, ...]:
    line = f"{one.file}:{one.line}" if one.file else None
    return f"#{number}", f"{one.address:#010x}", one.symbol, line


def _choose(context: Context, number: int) -> Answer:
    """Choose the call with this number, and return an answer with its line of source."""
    frames = frames_of(context)
    if not 0 <= number < len(frames):
        if number < 0:
            raise CommandError("this is the innermost call")
        if len(frames) == 1:
            raise CommandError("there is one call, #0")
        raise CommandError(f"there are {len(frames)} calls, #0 to #{len(frames) - 1}")
    context.frame = number
    context.list_position = None
    one = frames[number]
    lines = [f"#{number}  {where_text(one)}"]
    if one.file and one.line:
        with suppress(CommandError, IndexError):  # without its source, the line says enough
            lines.append(f"{one.line}  {source_lines(one.file)[one.line - 1].rstrip()}")
    return answers.message(*lines)


@command(
    "frame [N]",
    "look",
    "choose a call by its number in `backtrace`, for list and info; without N: show it",
    aliases=("f",),
    details="Registers stay those of the innermost call, #0. The next stop chooses #0 again.",
)
def _frame(context: Context, line: Line) -> Answer:
    text = line.get("N")
    return _choose(context, context.frame if text is None else parse_number(text))


@command("up [N]", "look", "choose the caller of the chosen call, N calls further out")
def _up(context: Context, line: Line) -> Answer:
    last = len(frames_of(context)) - 1
    if context.frame == last:
        raise CommandError("this is the outermost call that was recognised")
    return _choose(context, min(last, context.frame + line.count()))


@command("down [N]", "look", "choose the call that the chosen call has made, N calls further in")
def _down(context: Context, line: Line) -> Answer:
    if context.frame == 0:
        raise CommandError("this is the innermost call")
    return _choose(context, max(0, context.frame - line.count()))


def frame_table(context: Context, text: str | None) -> Answer:
    """Return the table of `info frame`: the chosen call, and the place to which it returns."""
    frames = frames_of(context)
    at = min(context.frame, len(frames) - 1)
    rows = [("call", f"#{at} of {len(frames)}"), ("at", where_text(frames[at]))]
    if at + 1 < len(frames):
        rows.append(("returns to", where_text(frames[at + 1])))
    return answers.table(("", "value"), rows)
