"""Instructions share operand encoders; a shared encoder does what a new one of the row does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from macaw.asm.operand_encoder import OperandEncoder
from macaw.asm.row_encoder import _row_encoder
from macaw.isa import registry
from macaw.isa.model import Core
from macaw.isa.rows import Instruction, Operand

NUMBERS = (
    *("0", "1", "3", "-1", "4", "7", "8", "15", "16", "31", "32", "100", "-2048", "2047", "2048"),
    *("4095", "65535", "0x10000", "1048575", "-0x80000000", "0xffffffff"),
)

Pair = tuple[Instruction, Operand, OperandEncoder, OperandEncoder]


def texts_of(operand: Operand) -> list[str]:
    """Texts that an operand may accept: some numbers, and the words of its kind."""
    return [*NUMBERS, *operand.kind.words()] if operand.kind.by_name else list(NUMBERS)


def pairs(core: Core) -> Iterator[Pair]:
    """Yield row, operand, shared encoder and new encoder of each operand outside of brackets."""
    shared: dict[object, OperandEncoder] = {}
    for row in core.instructions:
        plan, new = _row_encoder(core, row, None, shared), _row_encoder(core, row, None, {})
        assert (plan is None) == (new is None), row.mnemonic
        if plan is not None and new is not None:
            outer = [operand for operand in row.operands if not operand.inside]
            for operand, one, other in zip(outer, plan.encoders, new.encoders, strict=True):
                yield row, operand, one, other


@pytest.mark.parametrize("core", registry.cores(), ids=lambda core: core.name)
def test_a_shared_encoder_does_what_a_new_one_does(core: Core) -> None:
    for row, operand, shared, new in pairs(core):
        where = f"{row.mnemonic} {operand.name}"
        assert (shared.base is None) == (new.base is None), where
        assert shared.needs_address == new.needs_address, where
        assert shared.by_distance == new.by_distance, where
        inner = [other for other in row.operands if other.inside == operand.name]
        for text in texts_of(operand):
            texts = [f"{text}({word})" for other in inner for word in texts_of(other)]
            for whole in [text, *texts]:
                assert shared.certain_bits(whole) == new.certain_bits(whole), (where, whole)


def test_operands_that_differ_in_brackets_share_no_encoder() -> None:
    found = {
        (row.mnemonic, operand.name): one for row, operand, one, _ in pairs(registry.core("cp"))
    }
    assert found["addi", "imm"] is found["andi", "imm"]
    assert found["lw", "imm"] is found["lbu", "imm"]
    assert found["lw", "imm"] is not found["addi", "imm"]
    assert found["lw", "imm"].certain_bits("4(sp)") == 4 << 20 | 2 << 15
    assert found["addi", "imm"].certain_bits("4(sp)") is None
    assert found["addi", "imm"].certain_bits("4") == 4 << 20
    assert found["lw", "imm"].certain_bits("4") is None
