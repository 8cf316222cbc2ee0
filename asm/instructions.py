"""Encodes instructions and pseudo-instructions as words in an area."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

from macaw.asm.expressions import NotYet, number
from macaw.asm.operands import AnyOperand, BoundOperands, bind, check, choose, known_word, value_of
from macaw.asm.parser import parse
from macaw.asm.relocations import relocate_operand
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Call, Checked, Here, Name, Node, Number, Statement, transform, unplaced
from macaw.isa import codec
from macaw.isa.lazy_pattern import lazy_pattern
from macaw.isa.rows import Alternative, Instruction, Pseudo, Row

_PLACEHOLDER = lazy_pattern(r"\{(\w+)\}")


def place_statement(
    context: StatementContext,
    statement: Statement,
    rows: Sequence[Row],
    core_rows: Mapping[str, Sequence[Row]],
) -> None:
    """Append the instruction words of a statement to the context's area. Raises `Mistake`.

    `rows` are the table rows of the statement's mnemonic; `core_rows` has the rows of all mnemonics
    of the core.
    """
    for here, row, bound in _instructions(context, statement, rows, core_rows):
        place_word(here, row, bound)


def words_after_layout(
    context: StatementContext, statement: Statement, core_rows: Mapping[str, Sequence[Row]]
) -> bytes:
    """Append the words of a statement to the context's area, and return the area's bytes.

    This function is for the time after the layout, when all symbols have values. Raises `Mistake`,
    or `NotYet` for a value that is still unknown.
    """
    assert statement.head is not None
    rows = core_rows[statement.head.text]
    for here, row, bound in _instructions(context, statement, rows, core_rows):
        context.area.append(_word(here, row, {}, bound.nodes))
    return bytes(context.area.data)


def _instructions(
    context: StatementContext,
    statement: Statement,
    rows: Sequence[Row],
    core_rows: Mapping[str, Sequence[Row]],
) -> Iterator[tuple[StatementContext, Instruction, BoundOperands]]:
    """Yield (context, row, operands) for each instruction of a statement.

    The caller must append each instruction to the area before it takes the next one.
    """
    row = choose(rows, statement)
    bound = bind(row, statement)
    if isinstance(row, Instruction):
        yield context, row, bound
        return
    for line in _expansion(context, row, bound):
        assert line.head is not None
        here = context.at_end()
        inner = choose(core_rows[line.head.text], line)
        assert isinstance(inner, Instruction)
        yield here, inner, bind(inner, line)


def place_word(context: StatementContext, row: Instruction, bound: BoundOperands) -> None:
    """Append one instruction to the area.

    `row` is the instruction, `bound` its operands. If some values are not known yet, a fixup
    completes the bytes after the layout.
    """
    values, pending = known_values(context, row, bound)
    size = row.format.size
    context.mark()
    context.state.instructions += 1
    if context.offset % size:
        message = f"the instruction does not lie on a multiple of {size}"
        context.state.report.warning(context.line, (-1, -1), message, name="alignment")
    for node in bound.nodes.values():
        if isinstance(node, Call) and node.function == "%pcrel_hi":
            context.add_pcrel_target(node.arguments[0])
    if not pending:
        context.emit(codec.encode(row, values).to_bytes(size, "little"))
        return
    pending = {name: context.fold(node) for name, node in pending.items()}
    context.emit_later(size, partial(_word, context, row, values, pending))


def known_values(
    context: StatementContext, row: Instruction, bound: BoundOperands
) -> tuple[dict[str, int], dict[str, Node]]:
    """Return the field values that are known now, and the nodes of the other operands.

    Both are by operand name.
    """
    values: dict[str, int] = {}
    pending: dict[str, Node] = {}
    for name, node in bound.nodes.items():
        try:
            values[name] = value_of(bound.operand(name), node, context, row)
        except NotYet:
            pending[name] = node
    return values, pending


def _word(
    context: StatementContext, row: Instruction, values: dict[str, int], pending: dict[str, Node]
) -> bytes:
    """Return the bytes of an instruction after the layout.

    `values` are the field values that were known before the layout, `pending` the nodes of the
    other operands.
    """
    operands = {operand.name: operand for operand in row.operands}
    late_values = {
        name: 0
        if relocate_operand(context, row, operands[name], node)
        else value_of(operands[name], node, context, row)
        for name, node in pending.items()
    }
    return codec.encode(row, {**values, **late_values}).to_bytes(row.format.size, "little")


@lru_cache(maxsize=512)
def template(text: str) -> Statement:
    """Return the statement of `text`, one line of a pseudo-instruction's expansion in the table.

    Each `{operand}` in `text` becomes the name `$operand`.
    """
    statement = unplaced(parse(_PLACEHOLDER.sub(r"$\1", text)))
    assert isinstance(statement, Statement)
    return statement


def _expansion(context: StatementContext, row: Pseudo, bound: BoundOperands) -> Iterator[Statement]:
    """Yield the statements to which a pseudo-instruction expands.

    `.` in an operand of the source means the address of the first of these statements.
    """
    nodes: dict[str, Node] = {}
    for operand in row.operands:
        node = bound.nodes.get(operand.name)
        if node is None:
            assert operand.default is not None
            nodes[operand.name] = Number(-1, -1, operand.default)
        elif operand.kind.by_name or known_word(operand.kind, node) is not None:
            value_of(operand, node, context)  # raises for a wrong word, with this operand's name
            nodes[operand.name] = node
        else:
            nodes[operand.name] = Checked(
                node.start, node.end, node, partial(_check_value, operand, node)
            )
    alternative = _alternative(context, row, nodes)
    start = context.offset

    def change(back: int, item: Node) -> Node | None:
        if isinstance(item, Name) and item.text.startswith("$") and item.text[1:] in nodes:
            return transform(nodes[item.text[1:]], partial(_own_here, back))
        return None

    for text in alternative.lines:
        line = transform(template(text), partial(change, context.area.size - start))
        assert isinstance(line, Statement)
        yield line


def _check_value(operand: AnyOperand, node: Node, value: int) -> int:
    return check(operand.name, operand.kind, value, node)


def _own_here(back: int, item: Node) -> Node | None:
    return Here(item.start, item.end, item.back + back) if isinstance(item, Here) else None


def _alternative(context: StatementContext, row: Pseudo, nodes: dict[str, Node]) -> Alternative:
    """Return the alternative of a pseudo-instruction that its operand `row.choose` selects.

    `nodes` are the operands by name. If the operand's value is not known yet, return the last
    alternative.
    """
    if not row.choose:
        return row.alternatives[0]
    try:
        value = number(nodes[row.choose], context)
    except NotYet:
        return row.alternatives[-1]
    for alternative in row.alternatives:
        if alternative.when is None or alternative.when(value):
            return alternative
    return row.alternatives[-1]
