"""pmac against the seed's figures, and against a model in Python's integers and fractions."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import pytest

from macaw.emu.faults import Fault
from macaw.isa import vector
from macaw.isa.codec import encode
from macaw.isa.vector_layouts import GENERAL
from tests.emu.exact_floats import EDGES, HALF, SINGLE
from tests.emu.vc_machine import Bench

pytestmark = pytest.mark.once

# Written from the specification: format, lanes, bits of a lane, signed.
FORMATS = {
    "u8": (16, 8, False), "s8": (16, 8, True), "u16": (8, 16, False), "s16": (8, 16, True),
    "u32": (4, 32, False), "s32": (4, 32, True), "f16": (8, 16, True), "f32": (4, 32, True),
}  # fmt: skip
A0, A1, A2, A3 = 0, 1, 2, 3  # vector registers, as the seed calls them


@pytest.fixture(scope="module")
def bench():
    return Bench()


def packed(lanes, bits):
    return sum((lane & (1 << bits) - 1) << bits * place for place, lane in enumerate(lanes)).to_bytes(16, "little")  # fmt: skip


def unpacked(data, bits, signed=False):
    value = int.from_bytes(data, "little")
    lanes = [value >> place & (1 << bits) - 1 for place in range(0, 128, bits)]
    return [x - (1 << bits) if signed and x >> bits - 1 else x for x in lanes]


def model(name, first, second, order, old, acc):
    """The 16 bytes of the result by the rules of the specification."""
    lanes, bits, signed = FORMATS[name]
    wide = 4 * bits
    sums = []
    before = unpacked(old, wide)
    left, right = unpacked(first, bits, signed), unpacked(second, bits, signed)
    if name[0] == "f":
        source = HALF if bits == 16 else SINGLE
        left, right = (
            [source.convert(x, SINGLE) for x in unpacked(data, bits)] for data in (first, second)
        )
    for group in range(0, lanes, 4):
        if name[0] == "f":
            m = [SINGLE.multiply(left[i], right[order[i]]) for i in range(group, group + 4)]
            total = SINGLE.add(SINGLE.add(SINGLE.add(m[0], m[1]), m[2]), m[3])
            if acc:
                total = SINGLE.add(before[group // 4] & 0xFFFFFFFF, total)
        else:
            total = sum(left[i] * right[order[i]] for i in range(group, group + 4))
            total += before[group // 4] if acc else 0
        sums.append(total)
    return packed(sums, wide)


def run(bench, name, first, second, order, old, acc, source):
    """Execute the instruction; the order is in a vector register or in general registers."""
    bench.vector(A0, first)
    bench.vector(A1, second)
    bench.vector(A3, old)
    rs3 = A2
    if source == "vector":
        lanes = FORMATS[name][0]
        # Entries behind the lanes are ignored.
        bench.vector(A2, bytes(order) + bytes([255] * (16 - lanes)))
    else:
        lanes = len(order)
        bits = 2 if lanes == 4 else 4
        value = sum(entry << bits * place for place, entry in enumerate(order))
        rs3 = GENERAL + 10
        if lanes == 4:
            value |= 0xABCD00  # ignored
        bench.core.x[10] = value & 0xFFFFFFFF
        bench.core.x[11] = value >> 32 if lanes == 16 else 0x55555555
    bench.do(f"pmac.{name}", rd=A3, rs1=A0, rs2=A1, rs3=rs3, acc=acc)
    return bench.result(A3)


def test_figure_4(bench):
    """pmac gives Fig. 4's sums of floats, order 2, 1, 3, 0 (seed 002 ¶52-56, ¶58-64, ¶73)."""
    src0, src1, seq = (2.0, 3.0, 5.0, 7.0), (11.0, 13.0, 17.0, 19.0), (2, 1, 3, 0)
    floats = [packed([SINGLE.rounded(Fraction(int(x))) for x in src], 32) for src in (src0, src1)]
    first, second = floats
    got = run(bench, "f32", first, second, seq, bytes(16), 0, "vector")
    wanted = 2 * 17 + 3 * 13 + 5 * 19 + 7 * 11
    assert got == packed([SINGLE.rounded(Fraction(wanted))], 32)


def test_figure_5(bench):
    """pmac gives Fig. 5's sums of sixteen bytes in four groups (seed 002 ¶67-72, ¶74)."""
    seq = (0, 14, 2, 13, 1, 5, 9, 7, 8, 4, 10, 3, 12, 11, 6, 15)
    data = bytes(range(16))
    for source in ("vector", "general"):
        got = run(bench, "u8", data, data, seq, bytes([99] * 16), 0, source)
        assert unpacked(got, 32) == [57, 132, 233, 596]
        again = run(bench, "u8", data, data, seq, got, 1, source)
        assert unpacked(again, 32) == [114, 264, 466, 1192]


def test_the_registers_of_figure_2(bench):
    """There are 16 vector registers of 128 bits and 32 general ones of 32 bits.

    A vector register is an array of elements of 8, 16, 32 or 64 bits: bytes 0 to 15 are read lane
    by lane in each width (seed 002 ¶44, ¶46-49).
    """
    files = {file.name: file for file in vector.CORE.files}
    assert (len(files["vr"].names), files["vr"].width) == (16, 128)
    assert (len(files["x"].names), files["x"].width) == (32, 32)
    assert all(f"vr{n}" in names for n, names in enumerate(files["vr"].names))
    assert all(f"gr{n}" in names for n, names in enumerate(files["x"].names))
    data = bytes(range(200, 216))
    bench.vector(15, data)
    for letter, size in (("b", 1), ("h", 2), ("w", 4), ("d", 8)):
        for place in range(16 // size):
            bench.do(f"vext.{letter}", rd=10, rs1=15, lane=place)
            element = data[place * size : (place + 1) * size]
            value = bench.core.x[10] | (bench.core.x[11] << 32 if letter == "d" else 0)
            wanted = int.from_bytes(element, "little", signed=True)
            assert value == wanted % (1 << (64 if letter == "d" else 32))


def lane(name, chance):
    """A random lane; half of them are special numbers."""
    _, bits, _ = FORMATS[name]
    if chance.random() < 0.5:
        if name[0] == "f":
            return chance.choice(EDGES[HALF if bits == 16 else SINGLE])
        return chance.choice((0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1))
    if name[0] == "f" and chance.random() < 0.7:  # near one another, so that sums round
        exponent = chance.randint(12, 18) if bits == 16 else chance.randint(120, 134)
        fraction = 10 if bits == 16 else 23
        return (
            chance.getrandbits(1) << bits - 1 | exponent << fraction | chance.getrandbits(fraction)
        )
    return chance.getrandbits(bits)


@pytest.mark.few(12)
@pytest.mark.parametrize("source", ["vector", "general"])
@pytest.mark.parametrize("acc", [0, 1])
@pytest.mark.parametrize("name", FORMATS)
def test_random_data(bench, name, acc, source):
    """Each format equals the model, with and without acc, for both sources of the order.

    acc adds to a3, without it a3 is overwritten (seed 002 ¶60, ¶65-67); the order may be in general
    registers (seed 002 ¶47).
    """
    chance = random.Random(f"{name} {acc} {source}")
    lanes, bits, _ = FORMATS[name]
    for _ in range(150):
        first, second = (packed([lane(name, chance) for _ in range(lanes)], bits) for _ in "ab")
        order = [chance.randrange(lanes) for _ in range(lanes)]
        old = chance.choice((chance.randbytes(16), bytes([255] * 16), bytes(16)))
        if name[0] == "f":
            old = packed([lane("f32", chance) | chance.getrandbits(32) << 32 for _ in range(lanes // 4)], 4 * bits)  # fmt: skip
        wanted = model(name, first, second, order, old, acc)
        got = run(bench, name, first, second, order, old, acc, source)
        assert got == wanted, (first, second, order, old)


@pytest.mark.parametrize("name", ["u8", "s8"])
def test_all_products_of_bytes(bench, name):
    """All 65536 products of bytes are right; in each group, the other three products are zero."""
    signed = FORMATS[name][2]
    number = lambda x: x - 256 if signed and x > 127 else x  # noqa: E731
    for x in range(256):
        for start in range(0, 256, 4):
            first = bytes(x if place % 4 == 1 else 0 for place in range(16))
            second = bytes(start + place if place < 4 else 77 for place in range(16))
            order = [0] * 16
            order[1::4] = [0, 1, 2, 3]
            got = run(bench, name, first, second, order, bytes(16), 0, "vector")
            wanted = [number(x) * number(start + place) for place in range(4)]
            assert unpacked(got, 32, True) == wanted


@pytest.mark.parametrize("name", ["u8", "s8"])
def test_four_bytes_of_general_registers(bench, name):
    """pmac.gr takes all operands from general registers (seed 002 ¶46, ¶57)."""
    chance = random.Random(name)
    signed = FORMATS[name][2]
    x = bench.core.x
    for acc, _ in product((0, 1), range(400)):
        first, second, seq, old = (chance.getrandbits(32) for _ in range(4))
        x[5], x[6], x[7], x[8] = first, second, seq, old
        bench.do(f"pmac.gr.{name}", rd=8, rs1=5, rs2=6, rs3=7, acc=acc)
        left, right = (list(v.to_bytes(4, "little")) for v in (first, second))
        if signed:
            left, right = ([b - 256 if b > 127 else b for b in v] for v in (left, right))
        total = sum(left[i] * right[seq >> 2 * i & 3] for i in range(4)) + old * acc
        assert x[8] == total & 0xFFFFFFFF
        assert (x[5], x[6], x[7]) == (first, second, seq)


def test_figure_4_in_general_registers(bench):
    """pmac.gr gives the result of Fig. 4 for bytes of general registers (seed 002 ¶57)."""
    x = bench.core.x
    x[5], x[6] = 0x07050302, 0x13110D0B
    x[7] = 2 | 1 << 2 | 3 << 4 | 0 << 6
    bench.do("pmac.gr.u8", rd=8, rs1=5, rs2=6, rs3=7)
    assert x[8] == 2 * 17 + 3 * 13 + 5 * 19 + 7 * 11
    bench.do("pmac.gr.u8", rd=8, rs1=5, rs2=6, rs3=7, acc=1)
    assert x[8] == 2 * 245
    bench.do("pmac.gr.u8", rd=0, rs1=5, rs2=6, rs3=7, acc=1)
    bench.do("pmac.gr.u8", rd=9, rs1=5, rs2=0, rs3=7)
    bench.do("pmac.gr.u8", rd=0, rs1=5, rs2=6, rs3=7, acc=1)
    bench.do("pmac.gr.u8", rd=9, rs1=5, rs2=6, rs3=7, acc=0)
    assert (x[0], x[9]) == (0, 245)


@pytest.mark.parametrize("name", FORMATS)
def test_integers_wrap(bench, name):
    """Integers wrap to a result as wide as the four sources of its group (seed 002 ¶73, ¶74)."""
    lanes, bits, signed = FORMATS[name]
    if name[0] == "f":
        return
    least = packed([1 << bits - 1 if signed else (1 << bits) - 1] * lanes, bits)
    ones = bytes([255] * 16)
    got = run(bench, name, least, least, list(range(lanes)), ones, 1, "vector")
    value = 1 << bits - 1 if signed else (1 << bits) - 1
    assert unpacked(got, 4 * bits) == [4 * value * value - 1] * (lanes // 4)


@pytest.mark.parametrize("name", FORMATS)
def test_sources_are_read_before_the_result_is_written(bench, name):
    """One register may be both source and result."""
    lanes, _, _ = FORMATS[name]
    data = bytes(place % lanes for place in range(16))
    order = list(data[:lanes])
    for acc in (0, 1):
        wanted = model(name, data, data, order, data, acc)
        bench.vector(A3, data)
        bench.do(f"pmac.{name}", rd=A3, rs1=A3, rs2=A3, rs3=A3, acc=acc)
        assert bench.result(A3) == wanted


@pytest.mark.parametrize("name", FORMATS)
def test_bad_entries_fault_and_change_nothing(bench, name):
    lanes = FORMATS[name][0]
    for place, bad in product((0, lanes - 1), (lanes, 255)):
        order = [0] * lanes
        order[place] = bad
        bench.vector(A3, bytes(range(16)))
        with pytest.raises(Fault) as fault:
            run(bench, name, bytes(16), bytes(16), order, bytes(range(16)), 1, "vector")
        assert fault.value.kind == "bad order index"
        said = f"entry {place} of the order is {bad}, the lanes are 0 to {lanes - 1}"
        assert fault.value.message == said
        assert fault.value.values == {"entry": place, "index": bad, "lanes": lanes}
        assert bench.result(A3) == bytes(range(16))
    if lanes == 8:
        with pytest.raises(Fault, match="bad order index"):
            run(bench, name, bytes(16), bytes(16), [0] * 7 + [8], bytes(16), 0, "general")


def test_the_fields_of_the_words_are_those_of_the_page():
    """The word of pmac has fields for four registers, format and acc.

    It is custom-1 in R4 form: a3, a0, a1, a2. funct3 is the format; funct2 has acc and the order's
    source (seed 002 ¶51, ¶56, ¶58, ¶65).
    """
    formats = ("u8", "s8", "u16", "s16", "s32", "f16", "f32", "u32")
    for funct3, name in enumerate(formats):
        row = vector.CORE.by_mnemonic[f"pmac.{name}"]
        for acc, general in product((0, 1), (0, 1)):
            rs3 = GENERAL + 10 if general else 2
            word = encode(row, {"rd": 3, "rs1": 4, "rs2": 5, "rs3": rs3, "acc": acc})
            a2 = 10 if general else 2
            wanted = (
                a2 << 27 | general << 26 | acc << 25 | 5 << 20 | 4 << 15 | funct3 << 12 | 3 << 7
            )
            assert word == wanted | 0x2B
