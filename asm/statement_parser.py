"""Parses a logical line to a statement, and reports errors of syntax."""

from __future__ import annotations

import re
from collections.abc import Callable

from macaw.asm import recovery
from macaw.asm.assembly_state import AssemblyState
from macaw.asm.macro_body import ExpandedText
from macaw.asm.parser import labels_of, parse
from macaw.asm.source import LogicalLine
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Statement


def parse_line(
    state: AssemblyState,
    line: LogicalLine,
    unknown: Callable[[LogicalLine], Mistake | None] = lambda _: None,
) -> Statement:
    """Return the statement of a line. If the line has an error of syntax, report the error.

    The result is then the part of the line that can be parsed. `unknown` returns the error for a
    line whose first word is unknown, or None.
    """
    try:
        return parse(line.text)
    except Mistake as mistake:
        if (other := unknown(line)) is not None:  # the operands of an unknown word mean nothing
            state.report.mistake(line, other)
            return Statement(0, 0, labels_of(line.text), None, ())
        _hint_at_comment(mistake, line)
        if isinstance(line.source, ExpandedText):
            recovery.hint_at_parameter(mistake, line.text, line.source.names)
        state.report.mistake(line, mistake)
        return _beginning(state, line, mistake)


def _hint_at_comment(mistake: Mistake, line: LogicalLine) -> None:
    """Add a hint to an error before a comment, as in `addi a0, a0, #1`, where `#1` is a comment."""
    following = line.source.text[line.start + len(line.text) :].lstrip(" \t")
    is_number = re.match(r"#-?[0-9]", following) is not None
    if mistake.start >= len(line.text) and line.text.endswith(",") and is_number:
        mistake.hint = "'#' begins a comment; write numbers without it"


def _beginning(state: AssemblyState, line: LogicalLine, mistake: Mistake) -> Statement:
    """Return what can be parsed before an error of syntax, at least the line's labels.

    If the line should set a symbol, mark the symbol as bad, so that uses cause no further errors.
    """
    assigned_symbol = recovery.assigned_symbol(line.text)
    if assigned_symbol is not None:
        StatementContext.current(state, line).spoil(assigned_symbol)
        return Statement(0, 0, labels_of(line.text), None, ())
    return recovery.parsable_start(line.text, mistake.start)
