"""The words of nnp against words written by hand, and the steps of chains in its table."""

from __future__ import annotations

import pytest

from macaw.isa import codec
from macaw.isa.descriptors.nnp import MOST_TILE_BYTES, broken_blocks, too_many_tiles
from macaw.isa.kinds import Immediate
from macaw.isa.nnp import BEGIN, CORE, FINISH, SCALARS, STAGE, STEPS, WRITE
from macaw.isa.nnp_layouts import BY_CODE, MEMORIES, TILE, UNITS, VECTOR

# op[31:24] inc[23:20] memory[19:16] address[15:0]; numbers of the specification.
WORDS = {
    "s_wr rows, 4": 0x00_01_0004,
    "s_wr cols, 65535": 0x00_02_FFFF,
    "s_wr iterations, 3": 0x00_03_0003,
    "s_wr valid, 1": 0x00_04_0001,
    "s_wr width, 28": 0x00_05_001C,
    "s_wr height, 28": 0x00_06_001C,
    "s_wr kernel, 3": 0x00_07_0003,
    "s_wr stride, 2": 0x00_08_0002,
    "s_wr pad, 0": 0x00_09_0000,
    "s_wr depth, 1": 0x00_0A_0001,
    "s_wr unit, 1": 0x00_0B_0001,
    "v_rd Dram, 0": 0x02_00_0000,
    "v_rd MulVrf, 1": 0x02_01_0001,
    "v_rd NetInQ, 0": 0x02_03_0000,
    "v_rd InitialVrf, 4660": 0x02_05_1234,
    "v_rd_inc InitialVrf, 1, 15": 0x10_F5_0001,
    "v_wr NetOutQ, 0": 0x05_02_0000,
    "v_wr AddSubVrf0, 5": 0x05_07_0005,
    "v_wr_inc AddSubVrf1, 5, 2": 0x11_28_0005,
    "m_rd NetInQ, 0": 0x03_03_0000,
    "m_rd Dram, 7": 0x03_00_0007,
    "m_wr MatrixRf, 7": 0x06_04_0007,
    "mv_mul 256": 0x07_00_0100,
    "mv_mul_inc 256, 9": 0x1B_90_0100,
    "vv_add AddSubVrf0, 3": 0x08_07_0003,
    "vv_add_inc AddSubVrf1, 3, 1": 0x12_18_0003,
    "vv_a_sub_b AddSubVrf0, 3": 0x09_07_0003,
    "vv_a_sub_b_inc AddSubVrf0, 3, 1": 0x20_17_0003,
    "vv_b_sub_a AddSubVrf0, 3": 0x0A_07_0003,
    "vv_b_sub_a_inc AddSubVrf0, 3, 1": 0x21_17_0003,
    "vv_mul 3": 0x0B_00_0003,
    "vv_mul_inc 3, 4": 0x1D_40_0003,
    "vv_max AddSubVrf1, 3": 0x0F_08_0003,
    "vv_max_inc AddSubVrf1, 3, 6": 0x13_68_0003,
    "v_sigm": 0x0C_00_0000,
    "v_tanh": 0x0D_00_0000,
    "v_relu": 0x0E_00_0000,
    "v_softmax": 0x1C_00_0000,
    "v_quantise": 0x22_00_0000,
    "trace_begin 5": 0x1E_00_0005,
    "trace_end 31": 0x1F_00_001F,
    "end_chain": 0xFF_00_0000,
}


@pytest.mark.parametrize(("text", "word"), WORDS.items(), ids=WORDS)
def test_a_word_by_hand(text: str, word: int) -> None:
    found = codec.decode(CORE, word)
    assert codec.describe(found) == text
    assert codec.encode(found.row, found.values) == word


def test_every_row_has_its_word_above() -> None:
    assert {text.split()[0] for text in WORDS} == set(CORE.by_mnemonic)


@pytest.mark.parametrize(
    ("word", "fault"),
    [
        (0x00_00_0001, "illegal instruction"),  # s_wr of no register
        (0x00_11_0001, "illegal instruction"),
        (0x02_02_0000, "illegal instruction"),  # v_rd NetOutQ
        (0x02_06_0000, "illegal instruction"),  # no memory has this number
        (0x05_03_0000, "illegal instruction"),  # v_wr NetInQ
        (0x08_01_0000, "illegal instruction"),  # vv_add MulVrf
        (0x04_00_0000, "illegal instruction"),
        (0xFE_00_0000, "illegal instruction"),
        (0x02_15_0000, "reserved bit set"),  # v_rd has no inc
        (0x07_01_0000, "reserved bit set"),
        (0x0C_00_0001, "reserved bit set"),
        (0x1E_00_0020, "reserved bit set"),
        (0xFF_00_0001, "reserved bit set"),
    ],
)
def test_a_word_that_is_none(word: int, fault: str) -> None:
    with pytest.raises(codec.DecodeError) as error:
        codec.decode(CORE, word)
    assert error.value.kind == fault


def test_steps_say_what_their_rows_are() -> None:
    """Each instruction of a chain has a step with its role, block and units (seed 003 ¶63-64)."""
    assert set(STEPS) == set(CORE.by_mnemonic)
    for mnemonic, row in CORE.by_mnemonic.items():
        step = STEPS[mnemonic]
        assert step.does == mnemonic.removesuffix("_inc")
        assert ("inc" in {item.name for item in row.operands}) == mnemonic.endswith("_inc")
        writes, reads = row.writes.split(), row.reads.split()
        assert (step.role in (BEGIN, STAGE)) == ("chain" in writes)
        assert (step.role in (STAGE, WRITE, FINISH)) == ("chain" in reads)
        assert bool(step.block) == bool(step.units) == (step.role == STAGE)
        for unit in UNITS:
            if unit.name in step.units:
                assert step.block in unit.blocks


def test_only_v_rd_is_said_to_read_windows() -> None:
    """v_rd_inc reads cols vectors while windows are set, and its address slides."""
    meanings = {row.mnemonic: row.meaning for row in CORE.instructions}
    assert "reads the window of the iteration" in meanings["v_rd"]
    assert "reads the window" not in meanings["v_rd_inc"]
    assert "Padding" not in meanings["v_rd_inc"]
    assert meanings["v_rd_inc"].count("If windows are set") == 1


def test_memories_have_the_numbers_of_the_page() -> None:
    """The memories that instructions name have the specification's numbers (seed 003 ¶43)."""
    numbers = {memory.name: memory.code for memory in MEMORIES}
    assert numbers == {
        "Dram": 0, "MulVrf": 1, "NetOutQ": 2, "NetInQ": 3, "MatrixRf": 4, "InitialVrf": 5,
        "AddSubVrf0": 7, "AddSubVrf1": 8,
    }  # fmt: skip
    assert all(BY_CODE[memory.code] is memory for memory in MEMORIES)
    settings = {setting.name for setting in CORE.settings}
    assert {memory.setting for memory in MEMORIES} - {""} <= settings
    assert all(set(memory.elements) <= {VECTOR, TILE} for memory in MEMORIES)


def test_each_register_has_its_own_pseudo_instruction() -> None:
    for scalar in SCALARS:
        (row,) = CORE.rows[scalar.alias]
        kind = row.operands[0].kind
        assert isinstance(kind, Immediate)
        assert kind.low == scalar.low == scalar.reset


def test_vectors_of_mx_are_whole_blocks() -> None:
    """A native vector of mx consists of whole blocks; if shorter than a block, it is one block."""
    device = {"nnp.quantise": "mx", "nnp.mx_block": 32}
    assert {n: broken_blocks(device | {"nnp.native": n}) for n in (4, 32, 96)} == {
        4: "",
        32: "",
        96: "",
    }
    assert broken_blocks(device | {"nnp.native": 100}) == (
        "a native vector of 100 elements (nnp.native) does not consist of whole blocks of 32 (nnp.mx_block)"
    )
    assert broken_blocks({**device, "nnp.native": 100, "nnp.quantise": "bfp"}) == ""


def test_the_largest_memory_of_tiles_that_is_simulated() -> None:
    """A memory of tiles has at most 512 MiB, with two bytes for each element."""
    tiles = MOST_TILE_BYTES // (2 * 64 * 64)
    assert too_many_tiles({"nnp.matrix_rf": tiles, "nnp.native": 64}) == ""
    message = too_many_tiles({"nnp.matrix_rf": tiles + 1, "nnp.native": 64})
    assert message == (
        f"{tiles + 1} tiles (nnp.matrix_rf) of 64 x 64 (nnp.native) are more than the 512 MiB that"
        " can be simulated"
    )
