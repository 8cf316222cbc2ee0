"""Defines the class `Directive`, and functions that check the operands of directives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Node, Statement, Text, quoted_name
from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Directive:
    """A row of the table of directives. `run` carries out a statement of this directive.

    If `defines`, the directive defines the symbol in its first operand. `example` has lines of
    source that can be assembled.
    """

    name: str
    syntax: str
    meaning: str  # a sentence
    run: Callable[[StatementContext, Statement], None]
    defines: bool = False  # the directive defines the symbol in its first operand
    example: str = ""  # lines that assemble; with .core where a part is needed


def table(rows: Sequence[Directive]) -> Mapping[str, Directive]:
    """Return the rows of directives by the names of the directives."""
    return {row.name: row for row in rows}


def wrong_operands(statement: Statement, syntax: str) -> Mistake:
    """Return the error for a directive with wrong operands.

    The hint of the error shows `syntax`, but with the directive's name as the source writes it,
    because the source may use a synonym.
    """
    head = statement.head
    assert head is not None
    if head.text.startswith("."):
        syntax = " ".join((head.text, *syntax.split(" ")[1:]))
    return Mistake(
        f"{head.text} takes other operands", (head.start, statement.end), f"write {syntax}"
    )


def check_count(statement: Statement, low: int, high: int, syntax: str) -> None:
    """Raise `Mistake` unless the statement has `low` to `high` operands."""
    if not low <= len(statement.operands) <= high:
        raise wrong_operands(statement, syntax)


def name_of(node: Node, what: str = "a symbol") -> Name:
    """Return the operand `node` if it is a name; otherwise raise `Mistake`.

    The message says with `what` which name the directive needs.
    """
    if not isinstance(node, Name):
        raise Mistake(f"{what} is needed here", node)
    return node


def symbol_of(node: Node) -> Name:
    """Return the operand `node` if it is a symbol, whose name may be in quotes.

    Raises `Mistake` for any other operand.
    """
    if isinstance(node, Text):
        return quoted_name(node)
    return name_of(node)
