"""Writes the ten operations of fim as moves: `rop <- iosa[3]`, `rz <- rop * iosa[4]`."""

from __future__ import annotations

from macaw.isa.fim_circuit import FUNCTIONS, GIO, IOSA, OPERATIONS, ROP, RZ
from macaw.isa.kinds import Immediate
from macaw.isa.lazy_dataclass import dataclass

ARROW = "<-"
# In a move, `op` is replaced by the function's symbol.
MOVES = tuple(
    f"{row.to} {ARROW} {row.left}" + (f" op {row.right}" if row.right else "") for row in OPERATIONS
)
BY_MOVE = {(row.to, row.left, row.right): number for number, row in enumerate(OPERATIONS)}
# By operand: the operation that a move with a one-operand function means. If two operations have
# the operand, it is the one that reads no column.
ALONE = {ROP: BY_MOVE[RZ, ROP, GIO], IOSA: BY_MOVE[RZ, IOSA, GIO]}


@dataclass(frozen=True)
class OperationNumber(Immediate):
    """The operand kind for the number of one of the ten operations of fim."""

    def describe(self) -> str:
        moves = (move.replace(IOSA, f"{IOSA}[COLUMN]") for move in MOVES)
        return "; ".join(f"{number}: {move}" for number, move in enumerate(moves))


def spelt(number: int, column: str, function: int | None) -> str:
    """Return the source text of operation `number` as a move, such as `rop <- iosa[3]`.

    `column` is the text in the brackets after `iosa`. `function` is the number of the ALU function;
    None if it is not known. Return an empty text if no move says what the operation does. There are
    two such cases: the ALU's function is not known; or the function has one operand, and a move
    with this operand already means another operation.
    """
    row = OPERATIONS[number]
    names = {IOSA: f"{IOSA}[{column}]"}
    to, left, right = (names.get(x, x) for x in (row.to, row.left, row.right))
    if not row.computes:
        return f"{to} {ARROW} {left}"
    if function is None:
        return ""
    what = FUNCTIONS[function]
    if what.operands == 2:
        return f"{to} {ARROW} {left} {what.symbol} {right}"
    if ALONE[row.left] != number:
        return ""
    return f"{to} {ARROW} " + (f"{what.symbol}{left}" if what.symbol else f"{what.name}({left})")
