"""Parses operations that are written as moves: `rop <- iosa[3]`, `rz <- rop * iosa[4]`."""

from __future__ import annotations

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import (
    Binary,
    Group,
    Indexed,
    Inside,
    Mistake,
    Name,
    Node,
    Slice,
    Statement,
    Unary,
)
from macaw.isa.fim_circuit import COLUMNS, FUNCTIONS, GIO, IOSA, OPERATIONS, ROP, RZ
from macaw.isa.fim_moves import ALONE, BY_MOVE, MOVES
from macaw.isa.lazy_dataclass import dataclass

_REGISTERS = (ROP, RZ, GIO, IOSA)
_BINARY = {row.symbol: n for n, row in enumerate(FUNCTIONS) if row.symbol and row.operands == 2}
_UNARY = {row.symbol: n for n, row in enumerate(FUNCTIONS) if row.symbol and row.operands == 1}
_CALLED = {row.name: n for n, row in enumerate(FUNCTIONS) if row.operands == 1}


@dataclass(frozen=True)
class Move:
    """An operation that is written as a move.

    `number` is the number of the operation, `column` its first column, and `repeat` the number of
    columns.

    `function` is the number of the function that the ALU must compute; None means any function.
    """

    number: int
    column: int
    repeat: int
    function: int | None


@dataclass(frozen=True)
class _Place:
    """One side of a move: a register, or `repeat` columns of the open row."""

    register: str
    column: int = 0
    repeat: int = 1


def move_of(context: StatementContext, statement: Statement) -> Move:
    """Return the operation of a statement `to <- from`. Raises `Mistake`."""
    target, source = statement.operands
    to = _place(context, target)
    if isinstance(source, Group) and len(source.items) == 1:
        source = source.items[0]
    if isinstance(source, Binary):
        function = _BINARY.get(source.operator)
        if function is None:
            there = "there are " + ", ".join(_BINARY)
            raise Mistake(f"the ALU has no '{source.operator}'", source, there)
        places = [_place(context, source.left), _place(context, source.right)]
    elif isinstance(source, Unary):
        function = _UNARY.get(source.operator)
        if function is None:
            raise Mistake(f"the ALU has no '{source.operator}' of one operand", source)
        places = [_place(context, source.operand)]
    elif isinstance(source, Inside):
        function = _called(source.outer)
        places = [_place(context, source.inner)]
    else:
        function = None
        places = [_place(context, source)]
    return _found(statement, to, places, function)


def _called(node: Node) -> int:
    """Return the number of the ALU function that `node` calls, for example `relu(...)`.

    Raises `Mistake` for any other node.
    """
    if not isinstance(node, Name):
        raise Mistake("the name of a function is needed here", node)
    if node.text not in _CALLED:
        hint = did_you_mean(node.text, _CALLED) or "there are " + ", ".join(_CALLED)
        raise Mistake(f"the ALU has no function {node.text}(...)", node, hint)
    return _CALLED[node.text]


def _found(statement: Statement, to: _Place, places: list[_Place], function: int | None) -> Move:
    left, right = places[0].register, places[-1].register if len(places) > 1 else ""
    number = BY_MOVE.get((to.register, left, right))
    if function is not None and len(places) == 1:
        number = ALONE.get(left) if to.register == RZ else None
    if number is None or OPERATIONS[number].computes != (function is not None):
        raise Mistake(
            "no operation moves this",
            (statement.operands[0].start, statement.end),
            "there are " + ", ".join(MOVES),
        )
    columns = next((x for x in (to, *places) if x.register == IOSA), _Place(IOSA))
    return Move(number, columns.column, columns.repeat, function)


def _place(context: StatementContext, node: Node) -> _Place:
    """Return the register or the columns that a node names: `rop`, `iosa[3]`, `iosa[4:8]`.

    Raises `Mistake`.
    """
    name = node.base if isinstance(node, Indexed) else node
    if not isinstance(name, Name) or name.text not in _REGISTERS:
        text = name.text if isinstance(name, Name) else ""
        hint = did_you_mean(text, _REGISTERS) or "there are rop, rz, gio, iosa[COLUMN]"
        raise Mistake(
            f"'{text}' is no register" if text else "a register is needed here", node, hint
        )
    if name.text != IOSA:
        if isinstance(node, Indexed):
            raise Mistake(f"{name.text} has no columns", node)
        return _Place(name.text)
    if not isinstance(node, Indexed):
        raise Mistake("iosa needs a column", node, f"write {IOSA}[0] to {IOSA}[{COLUMNS - 1}]")
    if len(node.subscripts) != 1:
        raise Mistake("iosa takes one column, or a range of them", node)
    return _columns(context, node.subscripts[0])


def _columns(context: StatementContext, node: Node) -> _Place:
    if not isinstance(node, Slice):
        return _Place(IOSA, context.bounded_number(node, "column", 0, COLUMNS - 1))
    if node.low is None or node.high is None:
        raise Mistake("both ends of a range of columns are needed", node)
    low = context.bounded_number(node.low, "column", 0, COLUMNS - 1)
    high = context.bounded_number(node.high, "column", 0, COLUMNS)
    if low >= high:
        raise Mistake(f"the range {low}:{high} is empty", node)
    return _Place(IOSA, low, high - low)
