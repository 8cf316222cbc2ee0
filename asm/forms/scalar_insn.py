"""The directive `.insn`: an instruction given by the fields of its format, or as a word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from macaw.asm.diagnostics import did_you_mean
from macaw.asm.directive import wrong_operands
from macaw.asm.instructions import place_statement
from macaw.asm.statement_context import StatementContext
from macaw.asm.syntax import Mistake, Name, Node, Statement
from macaw.isa import scalar
from macaw.isa.rows import Format, Instruction, Row

_WORD = 4  # bytes of an instruction
# By the name of a format: the fields that the source gives as numbers, and the operands after them.
_FORMATS: Mapping[str, tuple[Format, Sequence[str], Sequence[str]]] = {
    "r": (scalar.R_TYPE, ("opcode", "funct3", "funct7"), ("rd, rs1, rs2",)),
    "i": (scalar.I_TYPE, ("opcode", "funct3"), ("rd, rs1, imm", "rd, imm(rs1)")),
    "s": (scalar.S_TYPE, ("opcode", "funct3"), ("rs2, imm(rs1)",)),
    "sb": (scalar.B_TYPE, ("opcode", "funct3"), ("rs1, rs2, target",)),
    "b": (scalar.B_TYPE, ("opcode", "funct3"), ("rs1, rs2, target",)),
    "u": (scalar.U_TYPE, ("opcode",), ("rd, imm",)),
    "uj": (scalar.J_TYPE, ("opcode",), ("rd, target",)),
    "j": (scalar.J_TYPE, ("opcode",), ("rd, target",)),
}
_R4_OPERANDS = 7  # besides the name: opcode, funct3, funct2, rd, rs1, rs2, rs3


def place_insn(context: StatementContext, statement: Statement) -> None:
    """Carry out `.insn`. Raises `Mistake`."""
    operands = statement.operands
    if not operands:
        raise wrong_operands(statement, scalar.INSN.syntax)
    name = operands[0]
    if not isinstance(name, Name) or name.text == ".":
        _place_word(context, statement)
        return
    form = name.text
    if form == "r4" or (form == "r" and len(operands) == 1 + _R4_OPERANDS):
        _place_r4(context, statement)
        return
    if form not in _FORMATS:
        hint = did_you_mean(form, _FORMATS) or "there are " + ", ".join((*_FORMATS, "r4"))
        raise Mistake(f"no format of instructions is called '{form}'", name, hint)
    _, fields, _ = _FORMATS[form]
    if len(operands) <= len(fields):
        raise _short(statement, form)
    numbers = [
        _field(context, node, field) for node, field in zip(operands[1:], fields, strict=False)
    ]
    _place(context, statement, form, numbers, operands[1 + len(fields) :])


def _place_r4(context: StatementContext, statement: Statement) -> None:
    """Append an instruction of format R4, whose fourth register is in the upper bits of funct7."""
    if len(statement.operands) != 1 + _R4_OPERANDS:
        raise _short(statement, "r4")
    _, opcode, funct3, funct2, rd, rs1, rs2, rs3 = statement.operands
    numbers = [_field(context, opcode, "opcode"), _field(context, funct3, "funct3")]
    upper = scalar.REGISTER.parse(rs3.text) if isinstance(rs3, Name) else None
    if upper is None:
        raise Mistake("a register is needed here", rs3)
    numbers.append(upper << 2 | context.bounded_number(funct2, "funct2", 0, 3))
    _place(context, statement, "r", numbers, (rd, rs1, rs2))


def _place(
    context: StatementContext,
    statement: Statement,
    form: str,
    numbers: Sequence[int],
    operands: Sequence[Node],
) -> None:
    rest = Statement(statement.start, statement.end, (), statement.head, tuple(operands))
    place_statement(context, rest, _rows(form, tuple(numbers)), {})


@lru_cache(maxsize=256)
def _rows(form: str, numbers: tuple[int, ...]) -> Sequence[Row]:
    """Return new table rows for an instruction that no table contains, one for each syntax.

    `form` is the format, `numbers` the opcode and the function fields.
    """
    layout, fields, shapes = _FORMATS[form]
    fixed = dict(zip(fields, numbers, strict=True))
    return [
        Instruction(".insn", layout, fixed, shape, "", "", "", "system", "", "", "")
        for shape in shapes
    ]


def _field(context: StatementContext, node: Node, field: str) -> int:
    """Return the number that `node` gives for `field`; for an opcode, `node` may be a name.

    Raises `Mistake`.
    """
    if field == "opcode" and isinstance(node, Name) and node.text in scalar.OPCODES:
        return scalar.OPCODES[node.text]
    bits = {"opcode": 7, "funct3": 3, "funct7": 7}[field]
    value = context.bounded_number(node, field, 0, (1 << bits) - 1)
    if field == "opcode" and value & 3 != 3:
        raise Mistake("the opcode of an instruction of 4 bytes ends with the bits 11", node)
    return value


def _place_word(context: StatementContext, statement: Statement) -> None:
    """Append the word of `.insn WORD` or `.insn 4, WORD` to the area."""
    *length, node = statement.operands
    if len(length) > 1:
        raise wrong_operands(statement, scalar.INSN.syntax)
    if length and context.number(length[0]) != _WORD:
        raise Mistake("an instruction has 4 bytes", length[0])
    value = context.bounded_number(node, "instruction", 0, (1 << 32) - 1)
    if value & 3 != 3:
        raise Mistake("an instruction of 4 bytes ends with the bits 11", node)
    context.emit(value.to_bytes(_WORD, "little"))


def _short(statement: Statement, form: str) -> Mistake:
    if form == "r4":
        shape = "r4 opcode, funct3, funct2, rd, rs1, rs2, rs3"
    else:
        _, fields, shapes = _FORMATS[form]
        shape = f"{form} {', '.join(fields)}, {shapes[0]}"
    return wrong_operands(statement, f".insn {shape}")
