"""nnp refuses exactly the programs that the assembler refuses, by the same rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.asm.source import Source
from macaw.emu.faults import Fault
from macaw.errors import RunError
from macaw.isa import codec, config
from macaw.isa.codec import Decoded
from macaw.isa.nnp import CORE
from macaw.isa.nnp_walk import Broken, broken
from tests.fuzzing import EXAMPLES, properties

few = settings(properties, max_examples=max(60, EXAMPLES // 20))  # each is a run
TINY = config.load("tiny")
_FIELDS = {
    "a": st.sampled_from([0, 1, 2, 3, 5, 250, 255, 256]),
    "m": st.sampled_from([0, 1, 60, 63]),
    "inc": st.integers(0, 3),
    "value": st.sampled_from([0, 1, 1, 2, 3]),
    "g": st.just(1),
}


@st.composite
def instruction(draw: st.DrawFn) -> int:
    """Draw the word of any instruction, without memories that another core must fill or drain."""
    row = draw(st.sampled_from(CORE.instructions))
    values = {}
    for operand in row.operands:
        if operand.name in _FIELDS:
            values[operand.name] = draw(_FIELDS[operand.name])
        else:
            words = [word for word in operand.kind.words() if not word.startswith("Net")]
            found = operand.kind.parse(draw(st.sampled_from(words)))
            assert found is not None
            values[operand.name] = found
    return codec.encode(row, values)


def _word(mnemonic: str, memory: str, address: int) -> int:
    row = CORE.by_mnemonic[mnemonic]
    kind = row.format.by_name["mem"].kind
    assert kind is not None
    code = kind.parse(memory)
    return codec.encode(row, {"mem": code or 0, "a": address})


READ, WRITE = _word("v_rd", "Dram", 0), _word("v_wr", "Dram", 500)
END = codec.encode(CORE.by_mnemonic["end_chain"], {})
# Chains that are good in most things, so that many get far.
CHAIN = st.lists(instruction(), max_size=4).map(lambda words: [READ, *words, WRITE])
PROGRAM = st.lists(CHAIN | instruction().map(lambda word: [word]), min_size=1, max_size=5)


def fault(words: list[int]) -> Fault | None:
    """The fault with which the program of these words ends, or None."""
    text = "".join(f"        .word {word:#010x}\n" for word in words)
    program = macaw.assemble(Source(f"        .device tiny\n        .core   nnp\n{text}", "t.s"))
    try:
        macaw.run(program, max_cycles=10_000_000)
    except RunError as error:
        return error.stop.fault
    return None


def first(words: list[int]) -> Broken | None:
    return next(broken(words, TINY), None)


@pytest.mark.once
@few
@given(PROGRAM)
def test_assembler_and_processor_refuse_the_same(chains: list[list[int]]) -> None:
    words = [word for chain in chains for word in chain] + [END]
    expected, found = first(words), fault(words)
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert (found.kind, found.values["rule"]) == ("broken chain", expected.error.rule)


def test_the_words_are_those_of_instructions() -> None:
    found: Decoded = codec.decode(CORE, READ)
    assert codec.describe(found) == "v_rd Dram, 0"
    assert first([READ, WRITE, END]) is None
