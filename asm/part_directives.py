"""The directives that change the device, or the current part, section or position."""

from __future__ import annotations

from macaw.asm.core_parts import CoreParts
from macaw.asm.directive import check_count, name_of
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import (
    DIGIT_FIRST,
    LocalLabel,
    Mistake,
    Name,
    Node,
    Omitted,
    Phrase,
    Real,
    Statement,
    Text,
    Unary,
)
from macaw.isa import registry

_HINT = ".hint"
_TRUTH = {"true": True, "false": False}
MAX_ALIGN = 16  # .align 16 is 64 KiB


def enter_core(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.core NAME, row=R`. Raises `Mistake`."""
    parts.enter_core(context, statement)


def choose_device(context: StatementContext, statement: Statement) -> None:
    """Carry out `.device`. Raises `Mistake`."""
    check_count(statement, 1, 1, ".device NAME")
    node = statement.operands[0]
    if not isinstance(node, Name | Text):
        raise Mistake("the name of a device is needed here", node)
    state = context.state
    state.device.choose(context.line, node, state.folders, state.report)


def change_setting(context: StatementContext, statement: Statement) -> None:
    """Carry out `.setting FIELD, VALUE`. Raises `Mistake`."""
    check_count(statement, 2, 2, ".setting FIELD, VALUE")
    field, node = name_of(statement.operands[0], "a field of the device"), statement.operands[1]
    device = context.state.device
    if device.is_fixed:
        if not device.is_replaced:
            context.warn(
                "the device is that of --device; .device and .setting do not count",
                statement,
                name="device",
            )
        device.is_replaced = True
        return
    device.change(context.line, field, _setting_value(context, node))


def _setting_value(context: StatementContext, node: Node) -> bool | int | float | str:
    """Return the value that a node gives to a setting: a word, a string or a number.

    Raises `Mistake`.
    """
    if isinstance(node, Text):
        return node.value.decode("utf-8", "replace")
    if isinstance(node, Name) and context.scope.find(node.text) is None:
        return _TRUTH.get(node.text, node.text)
    text = context.line.text[node.start : node.end]
    if isinstance(node, LocalLabel):
        raise Mistake(f"'{text}' is no number", node, DIGIT_FIRST)
    if isinstance(node, Real) or (isinstance(node, Unary) and isinstance(node.operand, Real)):
        return float(text)
    return context.number(node)


def take_hint(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.hint` if the current part supports this kind of hint; otherwise ignore it.

    Warn if parts of another core support this kind. Raises `Mistake`.
    """
    part = parts.current
    if part is not None and any(row.name == _HINT for row in part.core.directives):
        part.hint(context, statement)
        return
    first = statement.operands[0] if statement.operands else None
    kind = first.words[0] if isinstance(first, Phrase) else first
    if not isinstance(kind, Name):
        return
    for core in registry.cores():
        rows = [row for row in core.directives if row.name == _HINT]
        if any(row.syntax.split()[1] == kind.text for row in rows):
            text = f"a hint '{kind.text}' is of parts of {core.name}: it is ignored"
            advice = f"write it after .core {core.name}"
            context.state.report.warning(context.line, kind, text, advice, name="hint")


def align_power(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.align POWER`: pad to a multiple of 2^POWER bytes. Raises `Mistake`."""
    check_count(statement, 1, 3, ".align POWER [, fill [, most]]")
    power = context.bounded_number(statement.operands[0], "exponent of the alignment", 0, MAX_ALIGN)
    _align(parts, context, statement, 1 << power)


def align_bytes(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.balign BYTES`: pad to a multiple of BYTES. Raises `Mistake`."""
    check_count(statement, 1, 3, ".balign BYTES [, fill [, most]]")
    first = statement.operands[0]
    step = context.bounded_number(first, "alignment in bytes", 0, 1 << MAX_ALIGN) or 1
    if step & (step - 1):
        raise Mistake(f"an alignment is a power of two, not {step}", first)
    _align(parts, context, statement, step)


def _align(parts: CoreParts, context: StatementContext, statement: Statement, step: int) -> None:
    padding = parts.padding
    if len(statement.operands) > 1 and not isinstance(statement.operands[1], Omitted):
        fill = context.bounded_number(statement.operands[1], "fill", -128, 255) & 0xFF

        def padding(count: int) -> bytes:
            return bytes([fill]) * count

    if len(statement.operands) > 2:
        most = context.bounded_number(statement.operands[2], "most bytes to skip", 0, 1 << 32)
        if most and -context.area.size % step > most:
            return
    context.align(step, padding)
