"""`why-stalled`, `why`: who waits for whom, and what made a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from debugger.causes import stalls
from debugger.commands.answers import Answer
from debugger.commands.table import Line, command
from debugger.places import places

if TYPE_CHECKING:
    from debugger.commands.interpreter import Interpreter


@command(
    "why-stalled [PLACES]",
    "why",
    "who waits for what, since when, for whom, and what those do; alone: all that run",
    details="The last lines name the true cause: somebody who has ended and gives no more,"
    " a circle, or\nsomebody who is busy, until when if that is known.",
)
def _why_stalled(interpreter: Interpreter, line: Line) -> Answer:
    session = interpreter.session
    text = line.get("PLACES")
    names = dict.fromkeys(x.core for x in places(session.device, text)) if text else ()
    found = stalls.why_stalled(session, [session.device.cores[name] for name in names])
    return Answer("text", lines=tuple(stalls.lines(found)), data=found)
