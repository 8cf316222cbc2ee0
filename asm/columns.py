"""The layout of source text: which column what stands in. Formatter and disassembler share it."""

from __future__ import annotations

STATEMENT = 8  # the column of mnemonics and directives; labels stand in column 0
BODY = 10  # that of the instructions between a directive and the one that ends its body
OPERANDS = 16  # that of operands, where the mnemonic leaves room
COMMENT = 40  # that of a comment behind a statement, where the statement leaves room
ARROW = "<-"  # behind what an instruction moves something to
GAP = 2  # blanks before such a comment, at least


def statement(text: str, column: int = STATEMENT) -> str:
    """A mnemonic or directive and its operands, given one blank apart, as they stand at `column`.

    Without the blanks before the column. What is written as a move or value, `a <- b`, stays so.
    """
    head, blank, operands = text.partition(" ")
    if operands.startswith(ARROW):
        return text
    return f"{head.ljust(OPERANDS - 1 - column)} {operands}" if blank else head


def with_comment(line: str, comment: str, column: int = COMMENT) -> str:
    """A line with a comment behind it."""
    return f"{line}{' ' * GAP}".ljust(column) + comment
