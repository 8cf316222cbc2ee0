"""Each encoding of RV32IM, Zicsr and Xcp equals that of GNU as and objdump."""

from __future__ import annotations

from typing import Any

import pytest

from macaw.isa import codec, cp
from tests.isa import gnu


@pytest.fixture(scope="module")
def vectors():
    return gnu.vectors()


def test_every_row_and_every_operands_ends_are_there(vectors):
    seen: dict[Any, Any] = {}
    for vector in vectors:
        for name, value in vector.values.items():
            seen.setdefault((vector.mnemonic, name), set()).add(value)
    assert {vector.mnemonic for vector in vectors} == set(cp.CORE.by_mnemonic)
    for row in cp.CORE.instructions:
        for operand in row.operands:
            assert set(gnu.ends(operand)) <= seen[row.mnemonic, operand.name]


def test_words_are_those_of_gnu_as(vectors):
    for vector in vectors:
        word = codec.encode(cp.CORE.by_mnemonic[vector.mnemonic], vector.values)
        assert word == vector.word, f"{vector.mnemonic} {vector.values}"


def test_words_decode_to_what_gnu_as_was_given(vectors):
    for vector in vectors:
        found = codec.decode(cp.CORE, vector.word)
        assert found.row.mnemonic == vector.mnemonic
        assert found.values == vector.values


def test_text_is_that_of_objdump(vectors):
    for vector in vectors:
        row = cp.CORE.by_mnemonic[vector.mnemonic]
        if row.family == "xcp":
            continue
        if vector.printed == "unimp":  # objdump prints this one by its alias all the same
            assert vector.word == 0xC0001073
            continue
        found = codec.decode(cp.CORE, vector.word)
        texts = {name: str(value) for name, value in found.values.items()}
        printed = [
            texts[operand.name]
            if operand.kind.relative
            else hex(vector.values[operand.name])
            if operand.name == "csr" and vector.values[operand.name] in gnu.OWN
            else operand.kind.format(vector.values[operand.name])
            for operand in row.operands
        ]
        mnemonic, operands = gnu.operands_of(vector.printed)
        assert mnemonic == row.mnemonic
        assert list(gnu.numbers(operands)) == list(gnu.numbers(printed)), vector


def test_recorded_vectors_are_up_to_date():
    cases = [(row.mnemonic, values) for row, values in gnu.cases()]
    assert [(vector.mnemonic, vector.values) for vector in gnu.recorded()] == cases
    if not gnu.tools_missing():
        assert [vector.word for vector in gnu.recorded()] == [vector.word for vector in gnu.live()]
