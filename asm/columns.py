"""The column layout of source text, which the formatter and the disassembler share."""

from __future__ import annotations

STATEMENT = 8  # column of mnemonics and directives; labels have column 0
BODY = 10  # column of the instructions in a directive's body
OPERANDS = 16  # column of operands after short mnemonics
COMMENT = 40  # column of a comment after a short statement
ARROW = "<-"  # after the target of a move
GAP = 2  # the fewest blanks before a comment


def statement(text: str, column: int = STATEMENT) -> str:
    """Return the statement `text` with its operands moved to the operand column.

    `text` has single blanks and is printed from column `column` on; the result does not include the
    blanks before `column`. The operands of a move, `a <- b`, are not aligned.
    """
    head, blank, operands = text.partition(" ")
    if operands.startswith(ARROW):
        return text
    return f"{head.ljust(OPERANDS - 1 - column)} {operands}" if blank else head


def with_comment(line: str, comment: str, column: int = COMMENT) -> str:
    """Return `line` with `comment` appended at column `column`."""
    return f"{line}{' ' * GAP}".ljust(column) + comment
