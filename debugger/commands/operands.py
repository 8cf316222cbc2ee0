"""Expressions of command lines, with the place of what is wrong in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.expressions import Expression, ExpressionError

if TYPE_CHECKING:
    from macaw.debugger.commands.context import Context
    from macaw.debugger.session import Session


def expression(context: Context, line: Line, operand: str = "E") -> Expression:
    """The compiled expression of an operand. Raises `CommandError` with its place."""
    try:
        return context.session.expression(line.get(operand) or "")
    except ExpressionError as error:
        raise _placed(error, line, operand) from None


def evaluate(context: Context, line: Line, operand: str = "E", plainly: bool = True) -> Any:
    """The value of an operand, `plainly` or as it is printed.

    Raises `CommandError` with its place.
    """
    found = expression(context, line, operand)
    try:
        return found.value() if plainly else display_value(context.session, found)
    except ExpressionError as error:
        raise _placed(error, line, operand) from None


def display_value(session: Session, found: Expression) -> Any:
    """The value of an expression as it is printed: of a queue alone what it holds, head first.

    Raises `ExpressionError`.
    """
    if found.target is not None and len(found.target[0].queues) == 1:
        ((place, name),) = found.target[0].queues
        core = session.device.cores[place.core]
        queue = next(row for row in core.table.queues if row.name == name)
        if found.text.strip().endswith(name) and len(place.units) == len(core.table.levels):
            core.sync()
            entries = core.entries(queue, place.units)
            if entries is not None:
                return list(entries)
    return found.value()


def address(context: Context, line: Line, operand: str = "E") -> int:
    """The value of an operand as an address: a tensor's or symbol's is where it lies."""
    text = line.get(operand) or ""
    try:
        value = context.session.evaluate(f"({text}) + 0")
    except ExpressionError as error:
        moved = ExpressionError(error.message, error.start - 1, error.end - 1, error.hint)
        raise _placed(moved, line, operand) from None
    if not isinstance(value, int):
        raise CommandError(f"{text} is no address", at=line.place(operand))
    return value


def symbol_at(session: Session, place: int) -> str:
    """`loop+8` of an address, empty if no symbol is near."""
    found = session.program.symbol_at(place)
    if found is None:
        tensor = next(
            (x for x in session.program.tensors if x.address <= place < x.address + x.size), None
        )
        if tensor is None:
            return ""
        return tensor.name + (f"+{place - tensor.address}" if place > tensor.address else "")
    return found[0].name + (f"+{found[1]}" if found[1] else "")


def address_text(context: Context, place: int) -> str:
    """An address, and the symbol near it if there is one."""
    name = symbol_at(context.session, place)
    return f"{place:#010x}" + (f" <{name}>" if name else "")


def _placed(error: ExpressionError, line: Line, operand: str) -> CommandError:
    begin, end = line.place(operand)
    if error.end > error.start >= 0:
        begin, end = begin + error.start, min(end, begin + error.end)
    return CommandError(error.message, error.hint, (begin, max(end, begin + 1)))
