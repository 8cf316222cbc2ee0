"""Finds the relocations for words whose values only a linker knows (`macaw asm -c`)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from macaw.asm.elf_format import R_RISCV_32, R_RISCV_CALL_PLT
from macaw.asm.expressions import Address, External, NotYet, evaluate, number
from macaw.asm.operands import known_word
from macaw.asm.relocatable import Linkage, Relocation
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Call, Checked, Here, Name, Node, walk
from macaw.isa.rows import Instruction, Operand

_HIGH, _LOW = "%pcrel_hi", "%pcrel_lo"
_RELATIVE = {"%hi": _HIGH, "%lo": _LOW}  # what an operator means if `.` is in its operand
WORD = 4  # bytes


def relocate_number(context: StatementContext, node: Node) -> bool:
    """Add the relocation that the 32-bit number at the context's position needs, if any.

    The number needs a relocation if `node` is a symbol of another object, perhaps with an offset.
    Return whether the function has added a relocation. Valid after the layout. Raises `Mistake`.
    """
    if context.state.linkage is None:
        return False
    with _relocating(context.state.linkage):
        return _relocate_number(context, node)


def relocate_operand(
    context: StatementContext, row: Instruction, operand: Operand, node: Node
) -> bool:
    """Add a relocation for `operand` of the instruction at the context's position, if possible.

    Return whether the function has added a relocation. This is possible if the operand depends on
    one symbol of another object, and if there is a relocation for the operand's field. Valid after
    the layout. Raises `Mistake`.
    """
    if context.state.linkage is None or operand.kind.by_name:
        return False
    if known_word(operand.kind, node) is not None:
        return False
    with _relocating(context.state.linkage):
        return _relocate_operand(context, row, operand, node)


@contextmanager
def _relocating(linkage: Linkage) -> Iterator[None]:
    """Make the `with` block treat weak symbols as symbols of other objects.

    Inside the block, `linkage.is_relocating` is true.
    """
    linkage.is_relocating = True
    try:
        yield
    finally:
        linkage.is_relocating = False


def _external_value(context: StatementContext, node: Node) -> tuple[str, int] | None:
    """Return the external symbol in an expression, and the number that the expression adds to it.

    Return None if the expression's value is not the address of an external symbol plus a number.
    """
    if not _names_external(context, node):
        return None
    try:
        value = evaluate(node, context)
    except NotYet:
        return None
    if not isinstance(value, Address):
        return None
    assert isinstance(value.area, External)
    return value.area.name, value.offset


def _relocate_number(context: StatementContext, node: Node) -> bool:
    value = _external_value(context, node)
    if value is None or _is_relative(node):
        return False
    _add(context, R_RISCV_32, *value)
    return True


def _relocate_operand(
    context: StatementContext, row: Instruction, operand: Operand, node: Node
) -> bool:
    operator, inner = _parts(node)
    kinds = dict(operand.field.relocations)
    if operator == _LOW:
        return _LOW in kinds and _low_part_at_label(context, kinds[_LOW], inner)
    value = _external_value(context, inner)
    if value is None:
        return False
    symbol, addend = value
    if _is_relative(inner):
        operator = _RELATIVE.get(operator, "")
        addend += _address(context)
    if operator not in kinds:
        return False
    if operator == _LOW:
        return _low_part(context, row, kinds[_LOW], symbol, value[1])
    _add(context, kinds[operator], symbol, addend)
    return True


def _linkage(context: StatementContext) -> Linkage:
    assert context.state.linkage is not None
    return context.state.linkage


def _add(context: StatementContext, kind: int, symbol: str | int, addend: int = 0) -> None:
    address = _address(context)
    relocation = Relocation(context.area.section, address, kind, symbol, addend)
    _linkage(context).relocations[address] = relocation


def _address(context: StatementContext) -> int:
    here = context.here()
    assert isinstance(here, int)
    return here


def _parts(node: Node) -> tuple[str, Node]:
    """Return (operator, argument) of an expression such as `%hi(x)`.

    Without such an operator, the result is (empty, `node`).
    """
    while isinstance(node, Checked):
        node = node.inner
    if isinstance(node, Call) and node.function.startswith("%") and len(node.arguments) == 1:
        return node.function, node.arguments[0]
    return "", node


def _names_external(context: StatementContext, node: Node) -> bool:
    """Return whether an expression names a symbol that is left to the linker."""
    return context.state.linkage is not None and any(
        isinstance(item, Name) and context.is_external(item) for item in walk(node)
    )


def _is_relative(node: Node) -> bool:
    return any(isinstance(item, Here) for item in walk(node))


def _low_part(
    context: StatementContext, row: Instruction, kind: int, symbol: str, distance: int
) -> bool:
    """Add a relocation for `%lo(symbol - . + 4)` in the second word of a pseudo-instruction.

    `distance` is the number that the expression adds to `symbol`. The relocation has the type
    `kind` and refers to the first word. Return False unless the first word has a relocation for the
    high part of the same sum. For a jump, one relocation replaces the relocations of both words.
    """
    relocations, first = _linkage(context).relocations, _address(context) - WORD
    high = relocations.get(first)
    if high is None or high.symbol != symbol or high.addend - first != distance:
        return False
    if row.flow:
        jump = Relocation(high.section, first, R_RISCV_CALL_PLT, symbol, high.addend)
        relocations[first] = jump
    else:
        _add(context, kind, first)
    return True


def _low_part_at_label(context: StatementContext, kind: int, label: Node) -> bool:
    """Add a relocation of the type `kind` for `%pcrel_lo(label)`.

    Return False unless the instruction at the label has the `%pcrel_hi` of a symbol of another
    object.
    """
    if _names_external(context, label):
        return False
    address = number(label, context)
    target = context.pcrel_target(address)
    if target is None or not isinstance(evaluate(*target), Address):
        return False  # the high part is known, or there is none
    _add(context, kind, address)
    return True
