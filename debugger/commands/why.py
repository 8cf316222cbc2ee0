"""The commands `why-stalled` (who waits for whom) and `why` (what made a value)."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from macaw.debugger.causes import cause_text, stalls
from macaw.debugger.causes.record import CauseError
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.operands import expression
from macaw.debugger.commands.table import command
from macaw.debugger.places import places

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST_LINES = 400


@command(
    "why-stalled [PLACES]",
    "why",
    "say who waits for what, since when and for whom; without PLACES: all cores that run",
    details="The last lines name the causes: a core that has ended or faulted, so that the waits\n"
    "for it never end; a circle of waits; or a busy core, with the cycle of its end if known.",
)
def _why_stalled(context: Context, line: Line) -> Answer:
    session = context.session
    text = line.get("PLACES")
    names = dict.fromkeys(x.core for x in places(session.device, text)) if text else ()
    result = session.why_stalled([session.device.cores[name] for name in names])
    return Answer("text", lines=tuple(stalls.lines(result)), data=result)


@command(
    "why E [depth N]",
    "why",
    "find the instructions and transfers that made a value, back through registers, queues and DMA",
    details="E: memory, elements of a tensor, registers of a core. Each line is a value and the\n"
    "step that made it. Below it are the values that this step read, and after `with` its\n"
    "settings. depth N: show N steps back (default 6). `why` repeats the run up to here with the\n"
    "reference engine; the next question at the same position is quick.",
)
def _why(context: Context, line: Line) -> Answer:
    session = context.session
    expression(context, line)
    depth = line.count(cause_text.DEPTH)
    if depth > cause_text.DEEPEST:
        raise CommandError(
            f"no more than {cause_text.DEEPEST} steps back are shown; ask for a value shown there",
            at=line.place("N"),
        )
    try:
        causes = session.why(line.get("E") or "")
    except CauseError as error:
        raise CommandError(str(error), at=line.place("E")) from None
    lines = tuple(islice(cause_text.lines(causes, depth), MOST_LINES))
    if len(lines) == MOST_LINES:
        lines += ("... less depth shows less",)
    return Answer("text", lines=lines, data=cause_text.tree(causes, depth))
