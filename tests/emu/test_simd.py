"""Every SIMD instruction except pmac against Python's integers and exact fractions, lane by lane.

`MODELS` has a model of each instruction, written from the specification.
"""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from macaw.emu.faults import Fault
from macaw.isa import vector
from macaw.isa.kinds import Immediate
from tests.emu.exact_floats import EDGES, HALF, SINGLE
from tests.emu.vc_machine import Bench

BITS = {"b": 8, "h": 16, "w": 32, "d": 64, "f16": 16, "f32": 32, "": 8}
FLOATS = {"f16": HALF, "f32": SINGLE}
ROUNDS = 40


def lanes_of(data, bits):
    return [int.from_bytes(data[at : at + bits // 8], "little") for at in range(0, 16, bits // 8)]


def bytes_of(lanes, bits):
    assert len(lanes) * bits == 128
    return b"".join((lane & (1 << bits) - 1).to_bytes(bits // 8, "little") for lane in lanes)


def signed(value, bits):
    return value - (1 << bits) if value >> bits - 1 else value


def clamp(value, low, high):
    return max(low, min(high, value))


def half_even(value, shift):
    return round(Fraction(value, 1 << shift))  # Python rounds a tie to even


def order(element, lane):
    """A key by which floats compare as numbers; both zeros are equal."""
    return FLOATS[element].value(lane) if not FLOATS[element].is_infinite(lane) else (
        Fraction(10) ** 60 * (-1 if lane & FLOATS[element].sign else 1)
    )  # fmt: skip


def least(element, x, y, sign=1):
    """The smaller of two floats, or the greater with sign -1; a number before a NaN, -0 below 0."""
    form = FLOATS[element]
    if form.is_nan(x) and form.is_nan(y):
        return form.nan
    if form.is_nan(x) or form.is_nan(y):
        return y if form.is_nan(x) else x
    keys = [(order(element, lane), -(lane >> form.bits - 1)) for lane in (x, y)]
    return x if (keys[0] <= keys[1]) == (sign == 1) else y


def compare(element, x, y, what):
    if element in FLOATS:
        if FLOATS[element].is_nan(x) or FLOATS[element].is_nan(y):
            return False
        x, y = order(element, x), order(element, y)
    elif not what.endswith("u"):
        x, y = signed(x, BITS[element]), signed(y, BITS[element])
    return {"vceq": x == y, "vclt": x < y, "vcle": x <= y}[what.removesuffix("u")]


def arithmetic(name, element, x, y):
    """The lane that a binary operation gives."""
    bits = BITS[element]
    if element in FLOATS:
        form = FLOATS[element]
        return {
            "vadd": lambda: form.add(x, y),
            "vsub": lambda: form.add(x, form.negative(y) if not form.is_nan(y) else y),
            "vmul": lambda: form.multiply(x, y),
            "vdiv": lambda: form.divide(x, y),
            "vmin": lambda: least(element, x, y),
            "vmax": lambda: least(element, x, y, -1),
        }[name]()
    a, b, count = signed(x, bits), signed(y, bits), y % bits
    return {
        "vadd": a + b, "vsub": a - b, "vmul": a * b, "vmin": min(a, b), "vmax": max(a, b),
        "vminu": min(x, y), "vmaxu": max(x, y),
        "vmulh": a * b >> bits, "vmulhu": x * y >> bits,
        "vsll": x << count, "vsrl": x >> count, "vsra": a >> count,
    }[name]  # fmt: skip


def single(name, element, x):
    bits = BITS[element]
    if element in FLOATS:
        return x & ~(1 << bits - 1) if name == "vabs" else x ^ 1 << bits - 1
    return abs(signed(x, bits)) if name == "vabs" else -signed(x, bits)


def summed(name, element, lanes):
    bits = BITS[element]
    if element in FLOATS:
        numbers = [FLOATS[element].convert(lane, SINGLE) for lane in lanes]
        total = numbers[0]
        for lane in numbers[1:]:
            total = SINGLE.add(total, lane)
        return total.to_bytes(16, "little")
    numbers = lanes if name == "vsumu" else [signed(lane, bits) for lane in lanes]
    return (sum(numbers) & (1 << 2 * bits) - 1).to_bytes(16, "little")


def to_word(lane):
    if SINGLE.is_nan(lane):
        return (1 << 31) - 1
    value = order("f32", lane)
    return clamp(round(value), -(1 << 31), (1 << 31) - 1)


def expected(name, element, sources, number):
    """The 16 bytes of rd; `number` is the constant operand."""
    bits = BITS[element]
    data = [lanes_of(source, bits) for source in sources]
    if name in ("vceq", "vclt", "vcltu", "vcle", "vcleu"):
        found = [-1 if compare(element, x, y, name) else 0 for x, y in zip(*data, strict=True)]
    elif name in ("vslli", "vsrli", "vsrai"):
        found = [arithmetic(name[:-1], element, x, number) for x in data[0]]
    elif name == "vsqrt":
        found = [SINGLE.root(x) for x in data[0]]
    elif name == "vexp":
        found = [SINGLE.exponential(x) for x in data[0]]
    elif name in ("vabs", "vneg"):
        found = [single(name, element, x) for x in data[0]]
    elif name in ("vsum", "vsumu"):
        return summed(name, element, data[0])
    elif name in ("vwiden", "vwidenu"):
        part = data[0][len(data[0]) // 2 :] if number else data[0][: len(data[0]) // 2]
        found = [signed(x, bits) if name == "vwiden" else x for x in part]
        bits *= 2
    elif name in ("vnarrow", "vnarrowu"):
        bits //= 2
        ends = (
            (0, (1 << bits) - 1) if name == "vnarrowu" else (-(1 << bits - 1), (1 << bits - 1) - 1)
        )
        found = [clamp(half_even(signed(x, 2 * bits), number), *ends) for x in data[0] + data[1]]
    elif name == "vcvt.f32":
        if element == "w":
            found = [SINGLE.rounded(Fraction(signed(x, 32))) for x in data[0]]
        else:
            found = [HALF.convert(x, SINGLE) for x in data[0][4 * number : 4 * number + 4]]
        bits = 32
    elif name == "vcvt.w":
        found = [to_word(x) for x in data[0]]
    elif name == "vcvt.f16":
        found, bits = [SINGLE.convert(x, HALF) for x in data[0] + data[1]], 16
    elif name == "vmov":
        return sources[0]
    elif name == "vsel":
        found = [x & m | y & ~m for x, y, m in zip(*data, strict=True)]
    elif name == "vperm":
        found = [(data[0] + data[1])[index] for index in data[2]]
    else:
        found = [arithmetic(name, element, x, y) for x, y in zip(*data, strict=True)]
    return bytes_of(found, bits)


def random_register(element, chance):
    bits = BITS[element]
    edges = EDGES[FLOATS[element]] if element in FLOATS else (0, 1, (1 << bits) - 1, 1 << bits - 1, (1 << bits - 1) - 1, bits, bits - 1)  # fmt: skip
    lanes = [
        chance.choice(edges) if chance.random() < 0.4 else chance.getrandbits(bits)
        for _ in range(128 // bits)
    ]
    if element == "f32" and chance.random() < 0.5:  # of the size of integers and of halves
        lanes = [chance.getrandbits(1) << 31 | chance.randint(100, 160) << 23 | chance.getrandbits(23) for _ in lanes]  # fmt: skip
    return bytes_of(lanes, bits)


@pytest.fixture(scope="module")
def bench():
    return Bench()


OPERATED = [
    row
    for row in vector.SIMD
    if row.family != "vector memory"
    and vector.OPERATIONS[row.mnemonic].name not in ("vsplat", "vins", "vext", "vextu")
]


@pytest.mark.once
@pytest.mark.parametrize("row", OPERATED, ids=lambda row: row.mnemonic)
def test_lanes(bench, row):
    """Each operation computes its lanes from registers and writes them (seed 002 ¶43)."""
    chance = random.Random(row.mnemonic)
    name, element = vector.OPERATIONS[row.mnemonic]
    names = [operand.name for operand in row.operands if operand.name.startswith("rs")]
    constant = next((x for x in row.operands if isinstance(x.kind, Immediate)), None)
    for turn in range(ROUNDS):
        values = {"rd": chance.randrange(16), **{x: chance.randrange(16) for x in names}}
        for register in values.values():
            bench.vector(register, random_register(element, chance))
        if name == "vperm":
            bench.vector(values["rs3"], bytes(chance.randrange(32) for _ in range(16)))
        number = 0
        if constant is not None:
            high = constant.kind.high
            number = values[constant.name] = (
                (0, high)[turn] if turn < 2 else chance.randint(0, high)
            )
        sources = [bench.result(values[x]) for x in names]
        wanted = None
        if name != "vperm" or max(sources[2]) < 32:
            wanted = expected(name, element, sources, number)
        others = {n: bench.result(n) for n in range(16) if n != values["rd"]}
        if wanted is None:
            continue
        bench.do(row.mnemonic, **values)
        got = bench.result(values["rd"])
        assert got == wanted, [source.hex() for source in (*sources, got, wanted)]
        assert {n: bench.result(n) for n in others} == others


@pytest.mark.parametrize("element", ["b", "h", "w", "d"])
def test_lanes_to_and_from_general_registers(bench, element):
    chance = random.Random(element)
    bits = BITS[element]
    x = bench.core.x
    for _ in range(60):
        old, value = chance.randbytes(16), chance.getrandbits(64)
        lane = chance.randrange(128 // bits)
        bench.vector(4, old)
        x[10], x[11] = value & 0xFFFFFFFF, value >> 32
        whole = value if bits == 64 else value & 0xFFFFFFFF
        bench.do(f"vsplat.{element}", rd=3, rs1=10)
        assert bench.result(3) == bytes_of([whole] * (128 // bits), bits)
        bench.do(f"vins.{element}", rd=4, rs1=10, lane=lane)
        lanes = lanes_of(old, bits)
        lanes[lane] = whole
        assert bench.result(4) == bytes_of(lanes, bits)
        bench.do(f"vext.{element}", rd=12, rs1=4, lane=lane)
        taken = signed(whole & (1 << bits) - 1, bits)
        assert x[12] == taken & 0xFFFFFFFF
        if bits == 64:
            assert x[13] == taken >> 32 & 0xFFFFFFFF
        if bits < 32:
            bench.do(f"vextu.{element}", rd=12, rs1=4, lane=lane)
            assert x[12] == whole & (1 << bits) - 1
        bench.do(f"vext.{element}", rd=0, rs1=4, lane=lane)
        assert x[0] == 0


@pytest.mark.parametrize("element", ["b", "h"])
def test_all_values_of_small_lanes_narrow_and_shift(bench, element):
    """vneg, vabs and constant shifts are right for all 8-bit and every 16th 16-bit value."""
    bits = BITS[element]
    values = range(0, 1 << bits, 1 if bits == 8 else 16)
    for name, numbers in (("vneg", [0]), ("vabs", [0]), ("vsrai", [0, 1, bits - 1])):
        for start in range(0, len(values), 128 // bits):
            source = bytes_of(list(values[start : start + 128 // bits]), bits)
            bench.vector(1, source)
            for number in numbers:
                more = {"shamt": number} if name == "vsrai" else {}
                bench.do(f"{name}.{element}", rd=2, rs1=1, **more)
                assert bench.result(2) == expected(name, element, [source], number)


def test_vperm_of_an_index_that_is_none(bench):
    for place, bad in ((0, 32), (15, 255)):
        index = bytearray(16)
        index[place] = bad
        bench.vector(3, bytes(index))
        bench.vector(4, bytes(range(16)))
        with pytest.raises(Fault) as fault:
            bench.do("vperm", rd=4, rs1=1, rs2=2, rs3=3)
        assert fault.value.kind == "bad order index"
        assert fault.value.message == f"byte {place} of the index is {bad}, the bytes are 0 to 31"
        assert bench.result(4) == bytes(range(16))


def test_every_row_is_tried():
    """Each row of SIMD instructions is tested here or in test_vc_cycles (seed 001 ¶48-50)."""
    names = {vector.OPERATIONS[row.mnemonic].name for row in vector.SIMD}
    moved = {"vsplat", "vins", "vext", "vextu"}
    accessed = {"vld", "vst", "vlds", "vsts"}  # test_vc_cycles.py
    assert {vector.OPERATIONS[row.mnemonic].name for row in OPERATED} == names - moved - accessed
