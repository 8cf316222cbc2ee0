"""The class of directives on text, and functions that several of these directives use."""

from __future__ import annotations

from collections.abc import Callable

from macaw.asm.statement_parser import parse_line
from macaw.asm.syntax import AlreadyReported, Statement
from macaw.asm.text_stack import Command, TextStack
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class TextDirective:
    """A directive that works on lines of text before these lines are parsed as statements.

    A field that has the same name as a field of `Directive` also has the same meaning. With
    `always`, the directive is carried out even in text that a conditional skips, as `.else` is.
    """

    name: str
    syntax: str
    meaning: str
    run: Callable[[TextStack, Command], None]
    defines: bool = False
    example: str = ""
    always: bool = False  # it is also carried out in text that is skipped


def statement_of(stack: TextStack, command: Command) -> Statement:
    """Parse `command`, a line with a directive on text, and return the statement.

    The function reports pieces that cannot be parsed; the statement does not contain them. Raises
    `AlreadyReported` if nothing can be parsed.
    """
    statement = parse_line(stack.state, command.line)
    if statement.head is None:
        raise AlreadyReported
    return statement
