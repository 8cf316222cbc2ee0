"""Evaluates expressions and addresses in command lines. Errors mark the operand in the line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from macaw.debugger.commands.line import CommandError, Line
from macaw.debugger.expressions import Expression, ExpressionError
from macaw.debugger.values import AccessError, unsigned_address

if TYPE_CHECKING:
    import numpy as np

    from macaw.debugger.commands.context import Context
    from macaw.debugger.session import Session


def expression(context: Context, line: Line, operand: str = "E") -> Expression:
    """Return the operand with the name `operand` as a compiled expression.

    Raises `CommandError`.
    """
    try:
        return context.session.expression(line.get(operand) or "")
    except ExpressionError as error:
        raise _with_place(error, line, operand) from None


def evaluate(context: Context, line: Line, operand: str = "E", plainly: bool = True) -> Any:
    """Return the value of the operand with the name `operand`. Raises `CommandError`.

    If `plainly` is false, return the value in the form in which `print` shows it (`display_value`).
    """
    operand_expression = expression(context, line, operand)
    try:
        return (
            operand_expression.value()
            if plainly
            else display_value(context.session, operand_expression)
        )
    except ExpressionError as error:
        raise _with_place(error, line, operand) from None


def element_type(source: Expression) -> np.dtype[Any] | None:
    """Return the element type that an expression's value has in the device, such as int16.

    The result is None if the expression denotes nothing in the device, or if the type is unknown.
    """
    if source.target is None:
        return None
    access = source.target[0]
    try:
        return access.dtype if access.present_type is None else access.present_type()
    except AccessError:  # there is no such value
        return None


def assign(context: Context, line: Line) -> Expression:
    """Assign the value of operand V to what operand E denotes. Raises `CommandError`.

    Return the compiled operand E. A change of the device counts as an edit; a change of a variable
    does not.
    """
    target = expression(context, line)
    dtype = element_type(expression(context, line, "V"))
    target.set(evaluate(context, line, "V"))
    if target.target is not None and target.target[0].set_type is not None:
        target.target[0].set_type(dtype)
    if target.accesses and (target.cores or target.memory):
        context.session.note_edit(f"set {line.get('E')} = {line.get('V')}")
    return target


def display_value(session: Session, source: Expression) -> Any:
    """Return the value of an expression as `print` shows it. Raises `ExpressionError`.

    If the expression is the name of one queue, the value is the list of its items, head first.
    """
    if source.target is not None and len(source.target[0].queues) == 1:
        ((place, name),) = source.target[0].queues
        core = session.device.cores[place.core]
        queue = next(row for row in core.table.queues if row.name == name)
        if source.text.strip().endswith(name) and len(place.units) == len(core.table.levels):
            core.sync()
            entries = core.entries(queue, place.units)
            if entries is not None:
                return list(entries)
    return source.value()


def address(context: Context, line: Line, operand: str = "E") -> int:
    """Return the value of the operand with the name `operand` as an address.

    The name of a tensor or a symbol stands for its address. Raises `CommandError`.
    """
    return address_of(context, line, line.get(operand) or "", operand)


def address_of(context: Context, line: Line, text: str, operand: str = "E") -> int:
    """Return the address that `text` denotes. Raises `CommandError`, which marks the operand.

    The name of a tensor or a symbol stands for its address.
    """
    return unsigned_address(number_of(context, line, text, operand, "address"))


def number_of(
    context: Context, line: Line, text: str, operand: str = "E", what: str = "whole number"
) -> int:
    """Return the whole number that `text` denotes; errors mark the operand.

    The name of a tensor or a symbol stands for its address. Messages call the number `what`. Raises
    `CommandError`.
    """
    try:
        value = _number(context.session, text)
    except ExpressionError as error:
        raise _with_place(error, line, operand) from None
    if value is None:
        raise CommandError(f"{text} is no {what}", at=line.place(operand))
    return value


def address_value(session: Session, text: str) -> int | None:
    """Return the address that an expression denotes, or None if its value is no whole number.

    The name of a tensor or a symbol stands for its address. Raises `ExpressionError`.
    """
    value = _number(session, text)
    return None if value is None else unsigned_address(value)


def _number(session: Session, text: str) -> int | None:
    session.expression(text)  # so that an error is one of this text
    try:
        value = session.read(f"({text}) + 0")
    except ExpressionError as error:
        raise ExpressionError(error.message, error.start - 1, error.end - 1, error.hint) from None
    return value if isinstance(value, int) else None


def symbol_at(session: Session, place: int) -> str:
    """Return the symbol or tensor at or before the address `place`, with the distance: `loop+8`.

    The text is empty if there is no symbol or tensor.
    """
    near = session.program.symbol_at(place)
    if near is None:
        tensor = next(
            (x for x in session.program.tensors if x.address <= place < x.address + x.size), None
        )
        if tensor is None:
            return ""
        return tensor.name + (f"+{place - tensor.address}" if place > tensor.address else "")
    return near[0].name + (f"+{near[1]}" if near[1] else "")


def address_text(context: Context, place: int) -> str:
    """Return the address `place` as text, with the symbol before it: `0x00010008 <loop+4>`."""
    name = symbol_at(context.session, place)
    return f"{place:#010x}" + (f" <{name}>" if name else "")


def _with_place(error: ExpressionError, line: Line, operand: str) -> CommandError:
    begin, end = line.place(operand)
    if error.end > error.start >= 0:
        begin, end = begin + error.start, min(end, begin + error.end)
    return CommandError(error.message, error.hint, (begin, max(end, begin + 1)))
