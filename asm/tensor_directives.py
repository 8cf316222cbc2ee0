"""The directives for named tensors: `.input` and `.output`."""

from __future__ import annotations

from macaw.asm.core_parts import CoreParts
from macaw.asm.data_directives import element_type, typed_shape
from macaw.asm.directive import name_of, wrong_operands
from macaw.asm.layout import EXTERNAL, Area, SectionPlan
from macaw.asm.program import TENSORS
from macaw.asm.program_symbols import second_definition
from macaw.asm.statement_context import StatementContext
from macaw.asm.symbols import Datum, Definition, TensorSymbol
from macaw.asm.syntax import Mistake, Name, Named, Statement

TENSOR_ALIGN = 64


def declare_tensor(parts: CoreParts, context: StatementContext, statement: Statement) -> None:
    """Carry out `.input` or `.output`: declare a named tensor. Raises `Mistake`.

    The tensor is in external memory, or in the memory that `at=` names.
    """
    head = statement.head
    assert head is not None
    syntax = f"{head.text} NAME, dtype, dimension, ... [, at=PLACE]"
    plain = [item for item in statement.operands if not isinstance(item, Named)]
    if not plain or not isinstance(plain[0], Name):
        raise wrong_operands(statement, syntax)
    name = plain[0]
    with context.spoil_on_error(name):
        if len(plain) < 2:
            raise wrong_operands(statement, syntax)
        at = context.named_operands(statement.operands, ("at",), head).get("at")
        if len(plain) < 3:
            element_type(plain[1])
            raise wrong_operands(statement, syntax)
        dtype, shape, size = typed_shape(context, plain[1], plain[2:])
        datum = Datum("tensor", size, dtype, shape)
        home = name_of(at.value, "the name of a memory") if at is not None else None
        direction = head.text.removeprefix(".")
        plan = _home(parts, home, name, datum, direction)
        if home is not None and plan.element not in ("", dtype):
            message = f"'{name.text}' is {dtype}, {home.text} of this device is for {plan.element}"
            raise Mistake(message, plain[1])
        symbol = _declare(context, name, datum, plan)
        context.state.symbols.tensors.append(TensorSymbol(symbol, direction, home, plan))


def _home(
    parts: CoreParts, home: Name | None, name: Name, datum: Datum, direction: str
) -> SectionPlan:
    """Return the section for the tensor `name`; the layout has not placed the section yet.

    `home` is the memory's name in `at=`, or None for external memory. `datum` is the tensor's type;
    `direction` is `input` or `output`. Raises `Mistake` if the memory cannot contain the tensor.
    """
    if home is None:
        return SectionPlan(TENSORS, EXTERNAL, "aw", [Area(TENSORS, zeros=True, align=TENSOR_ALIGN)])
    plan = parts.tensor_plan(home)
    if plan.direction and not direction.startswith(plan.direction):
        message = f"'{name.text}' is an {direction}, {home.text} is for {plan.direction}puts"
        raise Mistake(message, home)
    size = datum.size
    if size % plan.step:
        message = f"'{name.text}' has {size} bytes, {home.text} takes multiples of {plan.step}"
        raise Mistake(message, home)
    if plan.limit and size > plan.limit:
        message = f"'{name.text}' has {size} bytes, {home.text} has room for {plan.limit}"
        raise Mistake(message, home)
    return plan


def _declare(context: StatementContext, name: Name, datum: Datum, plan: SectionPlan) -> Definition:
    """Create and return the symbol of a tensor; all files share the symbol. Raises `Mistake`."""
    area = context.state.layout.area(plan)
    other = context.scope.export(name.text, context.line, name.start, name.end)
    if other is not None:
        raise second_definition(name, other, context.scope)
    context.at_end(area).check_room(datum.size + area.align)
    area.align_to(area.align)
    symbol = context.at_end(area).new_label(name, datum)
    area.grow(datum.size)
    context.at_end(area).list_bytes(area.size - datum.size)
    symbol.kind, symbol.is_used = "object", True
    return symbol
