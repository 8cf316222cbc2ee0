"""The command `annotate`: shows the cycles of each line, as a table and in the code panel."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from macaw.debugger.commands import answers
from macaw.debugger.commands.answers import Answer
from macaw.debugger.commands.code import source_lines
from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.commands.table import command

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context

MOST_CYCLES = 1_000_000  # of the run, without N
LINES = 10  # of the table


@command(
    "annotate [off|N]",
    "look",
    "show what each line costs, also in the code panel",
    details="The program runs from reset on a device of its own, for at most N cycles (by default\n"
    f"{MOST_CYCLES:,}); the session stays where it is, and its edits are not repeated. Each cycle\n"
    "of that run belongs to one line; macaw annotate shows all lines. Ctrl-C ends the run.\n"
    "off: show no costs in the code panel",
)
def _annotate(context: Context, line: Line) -> Answer:
    if line.words:
        context.costs = None
        return answers.message("the code panel shows no costs")
    costs = context.session.line_costs(line.count(MOST_CYCLES))
    if not costs.cycles:
        raise CommandError(f"the run has no cycle: {costs.reason}")
    context.costs = costs
    order = sorted(costs.lines.items(), key=lambda item: (-item[1], item[0]))
    rows = [
        (
            costs.share_text(cycles),
            cycles,
            f"{PurePath(file).name}:{number}",
            _text(file, number),
        )
        for (file, number), cycles in order[:LINES]
    ]
    end = "" if costs.is_complete else f", which is not complete: {costs.reason}"
    title = f"cycles of the run: {costs.cycles:,}{end}"
    return answers.table(("share", "cycles", "line", "source"), rows, title)


def _text(file: str, number: int) -> str:
    try:
        return source_lines(file)[number - 1].strip()
    except (CommandError, IndexError):
        return ""
