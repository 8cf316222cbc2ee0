"""The words of fim against C bit-fields; the memory of islands against seed 004."""

from __future__ import annotations

import ctypes
import random
from dataclasses import replace

import pytest

from macaw.isa import codec, config, fim, fim_moves
from macaw.isa.codec import DecodeError
from macaw.isa.fim_circuit import ARRANGEMENTS, FUNCTIONS, OPERATIONS, REGISTERS
from macaw.isa.fim_islands import Place, abilities, geometry, island_address, timings


def bits(*fields):
    """A C struct of bit-fields, from bit 0 up."""
    name = "_".join(name for name, _ in fields)
    members = [(name, ctypes.c_uint32, width) for name, width in fields]
    return type(name, (ctypes.LittleEndianStructure,), {"_fields_": members})


HEAD = ("opcode", 5), ("mmr", 1)
EMPTY = bits(("zero", 26), *HEAD)
MARKER = bits(("g", 5), ("begin", 1), ("zero", 20), *HEAD)
BUFFER = bits(("buffer", 3), ("zero", 23), *HEAD)
# Mnemonic: its struct, its opcode and what else is the same in each.
LAYOUTS = {
    "endall": (EMPTY, 0, {}),
    "block": (bits(("banks", 16), ("zero", 10), *HEAD), 1, {}),
    "end": (EMPTY, 2, {}),
    "act": (bits(("row", 13), ("inc", 13), *HEAD), 3, {}),
    "pre": (EMPTY, 4, {}),
    "fim": (bits(("repeat", 11), ("inc", 6), ("col", 5), ("n", 4), *HEAD), 5, {}),
    "mmr": (bits(("value", 24), ("register", 7), ("mmr", 1)), None, {"mmr": 1}),
    "loop": (bits(("n", 16), ("zero", 10), *HEAD), 6, {}),
    "endloop": (EMPTY, 7, {}),
    "push": (bits(("buffer", 3), ("register", 2), ("zero", 21), *HEAD), 8, {}),
    "pull": (bits(("buffer", 3), ("register", 2), ("all", 1), ("zero", 20), *HEAD), 9, {}),
    "lock": (BUFFER, 10, {}),
    "unlock": (BUFFER, 11, {}),
    "trace_begin": (MARKER, 12, {"begin": 1}),
    "trace_end": (MARKER, 12, {"begin": 0}),
}
LIMITS = {"n": (0, 9), "inc": (-32, 31), "col": (0, 31), "repeat": (1, 2047), "value": (0, (1 << 24) - 1),
          "act row": (0, 4099), "act inc": (-4096, 4095), "loop n": (1, 0xFFFF), "banks": (1, 0xFFFF), "buffer": (0, 7), "g": (0, 31), "all": (0, 1)}  # fmt: skip


def legal(row, operand):
    """Some legal values of an operand: its limits as specified, and values between."""
    if operand.name == "register":
        return {"mmr": sorted(REGISTERS), "push": [0, 1, 2], "pull": [0, 1]}[row.mnemonic]
    low, high = LIMITS.get(f"{row.mnemonic} {operand.name}") or LIMITS[operand.name]
    middle = [random.Random(operand.name).randint(low, high) for _ in range(3)]
    return [low, high, *middle]


def test_every_row_has_a_layout():
    assert set(LAYOUTS) == set(fim.CORE.by_mnemonic)


@pytest.mark.parametrize("row", fim.CORE.instructions, ids=lambda row: row.mnemonic)
def test_words_are_those_of_c(row):
    struct, opcode, fixed = LAYOUTS[row.mnemonic]
    choices = [legal(row, operand) for operand in row.operands]
    for number in range(max(map(len, choices), default=1)):
        values = {
            operand.name: some[number % len(some)]
            for operand, some in zip(row.operands, choices, strict=True)
        }
        expected = struct(**values, **fixed)
        if opcode is not None:
            expected.opcode = opcode
        word = codec.encode(row, values)
        assert word.to_bytes(4, "little") == bytes(expected)
        found = codec.decode(fim.CORE, word)
        assert (found.row, found.values) == (row, values)


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        (0x0000_0001, "reserved bit set"),  # endall
        (0x1000_0100, "reserved bit set"),  # pre
        (0x3400_0000, "illegal instruction"),  # opcode 13
        (0x1680_0001, "illegal instruction"),  # fim 10
        (0x1400_0000, "illegal instruction"),  # repeat 0
        (0x0400_0000, "illegal instruction"),  # a block of no banks
        (0xAC00_0000, "illegal instruction"),  # register 44
        (0x0C00_1004, "illegal instruction"),  # act of the fifth row register
        (0xFF00_0000, "illegal instruction"),  # register 127
    ],
)
def test_words_that_are_none(word, kind):
    with pytest.raises(DecodeError) as error:
        codec.decode(fim.CORE, word)
    assert error.value.kind == kind


def test_the_ten_operations_are_those_of_figure_1c():
    """Operations 0 to 9 move and compute as Fig. 1c says (seed 004 ¶46-47)."""
    assert fim_moves.MOVES == (
        "gio <- iosa", "iosa <- gio", "rop <- iosa", "rop <- gio", "iosa <- rz",
        "gio <- rz", "rz <- rop op iosa", "rz <- rop op gio", "rz <- iosa op gio", "rop <- rz",
    )  # fmt: skip
    assert [row.has_column for row in OPERATIONS] == [n in (0, 1, 2, 4, 6, 8) for n in range(10)]


def test_hbm_of_the_page():
    """HBM has 16 banks in 4 groups and rows of 8192 bits (seed 004 ¶45, ¶47, ¶53)."""
    memory = geometry(config.load("base"))
    assert (memory.banks, memory.row_bytes * 8, memory.rows) == (16, 8192, 4096)
    assert memory.size == 1 << 26
    assert [memory.group(bank) for bank in range(16)] == [bank // 4 for bank in range(16)]
    assert memory.place(0x1234567) == Place(4, 0x8D1, 11, 7)  # 0100 1000 1101 0001 01011 00111
    assert island_address(3) == 0x4C00_0000
    assert {memory.chip(byte) for byte in range(32)} == {0}


def test_dimm():
    """A DIMM has ranks, groups and chips; chips give 32 bits each in parallel (seed 004 ¶45)."""
    device = config.load("base").changed(
        {"fim.organisation": "dimm", "fim.ranks": 2, "fim.bank_groups": 2, "fim.rows": 100}
    )
    memory = geometry(device)
    assert memory.banks == 16
    assert [memory.rank(bank) for bank in (0, 7, 8, 15)] == [0, 0, 1, 1]
    assert [memory.group(bank) for bank in (0, 7, 8, 15)] == [0, 1, 2, 3]
    assert [memory.chip(byte) for byte in (0, 3, 4, 31)] == [0, 0, 1, 7]
    assert timings(device)["burst"] == 1  # 8 chips of 32 bits: a column at once
    for offset in (0, 31, 32, 102399, 102400, memory.size - 1):
        assert memory.offset(memory.place(offset)) == offset


@pytest.mark.parametrize(
    ("chips", "bits", "burst", "of"), [(8, 8, 4, [0, 1, 7, 0, 1, 7]), (4, 16, 4, [0, 0, 3, 0, 0, 3]), (1, 256, 1, [0] * 6)]
)  # fmt: skip
def test_chips_give_a_column_beat_by_beat(chips, bits, burst, of):
    """Chips are read in parallel; each gives its part of the bus (seed 004 ¶45)."""
    device = config.load("base").changed(
        {"fim.organisation": "dimm", "fim.chips": chips, "fim.chip_bits": bits}
    )
    memory = geometry(device)
    assert timings(device)["burst"] == burst
    assert [memory.chip(byte) for byte in (0, 1, 7, 8, 9, 31)] == of


def test_chips_that_do_not_divide_a_column():
    with pytest.raises(
        config.ConfigError, match=r"^fim.chips \(6\) x fim.chip_bits \(32\) are 192 bits"
    ):
        config.load("base").changed({"fim.organisation": "dimm", "fim.chips": 6})


def test_too_many_banks():
    with pytest.raises(config.ConfigError, match=r"^fim.ranks \(2\) x fim.bank_groups \(4\)"):
        config.load("base").changed({"fim.ranks": 2})


def able(device, island):
    found = abilities(config.load(device), island)
    names = [row.name for row in FUNCTIONS]
    return found, lambda function, *rest: found.lacks(names.index(function), *rest)


def test_abilities_of_islands():
    """Islands differ in arrangements, functions and formats (seed 004 ¶53).

    The text of an error names what is missing.
    """
    _, lacks = able("base", 0)
    assert lacks("mul", 1, 0) == lacks("mul", 0, 1) == lacks("relu", 0, 0) == ""
    assert lacks("mul", 2, 0) == "island 0 has no arrangement outer, but elementwise, dot"
    assert lacks("tanh", 0, 0) == "island 0 has no tanh, but add, sub, mul, relu"
    assert lacks("add", 1, 0) == "the arrangement dot takes the function mul, not add"
    _, lacks = able("base", 2)
    assert lacks("mul", 3, 0, 2) == ""
    assert lacks("mul", 3, 1) == "island 2 has no fp32, but fp16"
    _, lacks = able("base", 3)
    assert lacks("sigmoid", 0, 0) == lacks("tanh", 0, 1) == ""


def test_abilities_that_do_not_go_together():
    """An island lacks outer products too large for its Rz, and fp32 tensor products.

    See seed 004 ¶42, ¶57.
    """
    device = config.load("tiny").changed(
        {"fim.island.0.rz_slices": 8, "fim.island.0.arrangements": "outer tensor"}
    )
    found = abilities(device, 0)
    assert (
        found.lacks(2, 2, 0) == "outer of fp16 fills 16 columns of Rz, island 0 has 8 (rz_slices)"
    )
    assert found.lacks(2, 2, 1) == ""
    assert found.lacks(2, 3, 1) == "the arrangement tensor takes fp16 or bf16, not fp32"
    assert found.lacks(2, 3, 0) == ""
    assert found.lacks(2, 3, 2) == "island 0 has no bf16, but fp16, fp32"
    assert found.lacks(2, 3, 0, 1) == "island 0 cannot transpose a"


PRODUCTS = ("aim", "ddr4_dimm", "hbm2_pim")  # memories that exist: all islands are equal


@pytest.mark.parametrize("device", PRODUCTS)
def test_islands_of_a_product_are_equal(device):
    found = config.load(device)
    islands = [abilities(found, number) for number in range(found["fim.islands"])]
    assert {replace(island, island=0) for island in islands} == {islands[0]}


@pytest.mark.parametrize("device", [name for name in config.presets() if name not in PRODUCTS])
def test_islands_of_a_preset_differ(device):
    """No two islands of a preset have the same abilities (seed 004 ¶44, ¶53, ¶55, ¶61)."""
    found = config.load(device)
    geometry(found)
    islands = [abilities(found, number) for number in range(found["fim.islands"])]
    assert len({(x.arrangements, x.functions, x.divider, x.formats) for x in islands}) == len(
        islands
    )
    assert any({"sigmoid", "tanh"} <= x.functions for x in islands)


@pytest.mark.parametrize("lanes", [8, 16])
def test_an_operation_s_products_results_and_levels_of_adders(lanes: int) -> None:
    """`work` gives an operation's products, results and adder levels, as counted result by result.

    A level of adders halves the terms of a result until one is left.
    """
    every = range(lanes)
    terms: dict[str, dict[tuple[int, ...], list[int]]] = {
        "elementwise": {(x,): [x] for x in every},
        "dot": {(): [*every]},
        "outer": {(x, y): [x] for x in every for y in every},
        "tensor": {(x, y): [*range(4)] for x in range(4) for y in range(4)},
    }
    for arrangement in ARRANGEMENTS:
        results = terms.pop(arrangement.name)
        left, levels = max(map(len, results.values())), 0
        while left > 1:
            left, levels = left // 2, levels + 1
        wanted = (sum(map(len, results.values())), len(results), levels)
        assert arrangement.work(lanes) == wanted, arrangement.name
    assert not terms
