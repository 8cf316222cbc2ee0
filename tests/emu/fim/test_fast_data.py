"""The products that the fast engine computes together have the bits of the reference engine's."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from macaw.emu.bfloat16 import element_type
from macaw.emu.engines import ENGINES
from macaw.emu.fim import deferred_data
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.emu.fim.circuit_data import CircuitData
from macaw.emu.fim.deferred_data import DeferredData
from macaw.emu.fim.fast_arithmetic import dots, round_significands, running_sums
from macaw.emu.floats import to_host
from macaw.isa import config
from macaw.isa.fim_circuit import DOT, FORMATS, MUL
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once
_EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
_FINITE = _EVERY[np.isfinite(_EVERY)]


def bits(numbers):
    return np.asarray(numbers, np.float16).view(np.uint16)


def widened(numbers):
    return np.asarray(numbers, np.float16).astype(np.float32)


def tree(terms):
    """Return the sums of adjacent pairs along the last axis, by NumPy's conversions to fp16."""
    with np.errstate(all="ignore"):
        while terms.shape[-1] > 1:
            wide = terms.astype(np.float64)  # a sum of two fp16 numbers is exact in binary64
            terms = (wide[..., 0::2] + wide[..., 1::2]).astype(np.float16)
    return terms[..., 0]


def exact_dots(left, right):
    with np.errstate(all="ignore"):
        return tree((left.astype(np.float64) * right.astype(np.float64)).astype(np.float16))


@pytest.mark.few(2)
@pytest.mark.parametrize("power", [-30, 0, 15])
def test_every_significand_is_rounded_half_to_even(power):
    whole = np.arange(1 << 23, 1 << 24, dtype=np.int64)
    numbers = np.ldexp(whole.astype(np.float32), power - 23)
    numbers[::3] *= -1
    rounded = numbers.copy()
    round_significands(rounded, np.empty_like(rounded), np.empty_like(rounded))
    kept, rest = whole >> 13, whole & 0x1FFF
    kept += (rest > 0x1000) | ((rest == 0x1000) & (kept & 1 == 1))
    exact = np.ldexp(kept.astype(np.float64), power - 10)
    assert (np.abs(rounded) == exact).all()
    assert (np.signbit(rounded) == np.signbit(numbers)).all()


@pytest.mark.parametrize(
    "factor", [0.0, -0.0, 1.0, -1.5, 1 + 2**-10, 2**-14, 2**-24, 3 * 2**-24, 0.3, -0.0007]
)
def test_every_product_of_a_factor_is_rounded_as_in_the_alu(factor):
    numbers = _FINITE[np.abs(_FINITE.astype(np.float64) * factor) < 16384]
    exact = exact_dots(numbers[:, None], np.full(1, factor, np.float16))
    # the other product is -0, and a sum with -0 is the other term
    zeros = np.copysign(np.float16(0), -np.copysign(np.float16(1), np.float16(factor)))
    for place in range(2):
        pairs = np.full((len(numbers), 2), zeros)
        pairs[:, place] = numbers
        products = dots(np.full(2, factor, np.float16), pairs)
        assert products is not None
        assert (bits(products) == bits(exact)).all()


# Significands whose products are ties, a little above and a little below ties, in each parity.
_SIGNIFICANDS = np.array([1024, 1025, 1026, 1027, 1365, 1535, 1536, 1537, 2045, 2046, 2047])


@pytest.mark.parametrize("exponent", range(-36, 1))
def test_products_and_sums_with_ties_and_small_numbers_are_those_of_numpy(exponent):
    """All exponents of products: subnormal, at the border to the normal numbers, and above it."""
    random = np.random.default_rng(exponent + 100)
    shape = 4000, 16
    left, right = (random.choice(_SIGNIFICANDS, shape) for _ in range(2))
    signs = random.choice([-1, 1], shape)
    half = exponent // 2
    spread = random.integers(-2, 3, shape)
    one = np.ldexp(left * signs, half - 10 + spread).astype(np.float16)
    other = np.ldexp(right, exponent - half - 10 - spread).astype(np.float16)
    one[::7] = one[0, 0]  # equal products, whose sums are ties or opposite numbers
    other[::7, 1::2] = -other[::7, 0::2]
    products = dots(one, other)
    assert products is not None
    assert (bits(products) == bits(exact_dots(one, other))).all()


@pytest.mark.parametrize("size", [2, 4, 16])
def test_zeros_have_the_signs_of_numpy(size):
    tiny = 2.0**-24  # its products are rounded to zeros
    values = np.array([0.0, -0.0, tiny, -tiny, 1.0, -1.0], np.float16)
    random = np.random.default_rng(size)
    # few values in a row, so that all its products are often -0
    few = random.choice(values, (3000, 2))
    left = np.take_along_axis(few, random.integers(0, 2, (3000, size)), axis=1)
    right = random.choice(np.array([0.0, tiny, 2**-14], np.float16), (3000, size))
    left[:500], right[:500] = np.copysign(left[:500], -1), np.abs(right[:500])
    exact = exact_dots(left, right)
    products = dots(left, right)
    assert products is not None
    assert (bits(products) == bits(exact)).all()
    assert {0x0000, 0x8000} <= set(bits(exact).tolist())
    whole = dots(left[:, None], right[None, :40])  # both operands are broadcast
    assert whole is not None
    assert (bits(whole) == bits(exact_dots(left[:, None], right[None, :40]))).all()


@pytest.mark.parametrize("size", [2, 16])
def test_the_greatest_products_that_the_fast_functions_take(size):
    """Products below 32768 / size are taken, even if a product of the greatest operands is not."""
    limit = np.float16(32768 / size)
    below = np.nextafter(limit, np.float16(0))
    one, other = (np.full((1, size), x, np.float16) for x in (2, below / 2))
    products = dots(one, other)
    assert products is not None
    assert (bits(products) == bits(exact_dots(one, other))).all()
    other[0, 1] = limit / 2
    assert dots(one, other) is None
    one[0, 1] = 0.5
    one[0, 0], other[0, 0] = limit, 0.25  # the greatest numbers are not in the same product
    products = dots(one, other)
    assert products is not None
    assert (bits(products) == bits(exact_dots(one, other))).all()


def test_running_sums_of_hard_numbers_are_those_of_numpy():
    """Ties, numbers of very different sizes, and opposite numbers."""
    random = np.random.default_rng(7)
    numbers = np.ldexp(
        random.choice(_SIGNIFICANDS, (60, 500)) * random.choice([-1, 1], (60, 500)),
        random.integers(-34, 2, (60, 500)),
    ).astype(np.float16)
    numbers[9::10] = -numbers[8::10]
    numbers[3, ::2] = -0.0
    accumulates = [number % 7 != 3 for number in range(60)]
    expected = old = numbers[0].copy()
    for number, adds in zip(numbers[1:], accumulates[1:], strict=True):
        exact = expected.astype(np.float64) + number.astype(np.float64)
        expected = exact.astype(np.float16) if adds else number
    sums = running_sums(old, widened(numbers[1:]), accumulates[1:])
    assert sums is not None
    assert (bits(sums) == bits(expected)).all()


@pytest.mark.parametrize("last", [0x7BFF, 0x7BFE])
def test_running_sums_round_to_the_largest_number_or_refuse(last):
    """65504 + 16 is half-way to 65536, which fp16 does not have; 65472 + 16 is a tie to 65472."""
    old = np.array([last], np.uint16).view(np.float16)
    sums = running_sums(old, widened([[15.99]]), [True])
    assert sums is not None
    assert bits(sums) == last
    again = running_sums(old, widened([[16]]), [True])
    assert (again is None) == (last == 0x7BFF)


@pytest.mark.parametrize("scale", [1e-6, 3e-4, 0.01, 1.0, 6.0])
def test_dot_products_have_the_bits_of_the_alu(scale):
    random = np.random.default_rng(int(scale * 1e6))
    left, right = (
        (random.standard_normal((3, 200, 16)) * scale).astype(np.float16) for _ in range(2)
    )
    left[random.random(left.shape) < 0.1] = 0
    products = dots(left, right)
    assert products is not None
    mode = Mode(op=MUL, arrange=DOT)
    exact = results(mode, left.view(np.uint8), right.view(np.uint8))[..., 0]
    assert (bits(products) == bits(exact)).all()
    sums = running_sums(exact[0], widened(exact[1:]), [True, False])
    assert sums is not None
    assert (bits(sums) == bits(exact[2])).all()
    sums = running_sums(exact[0], widened(exact[1:]), [True, True])
    assert sums is not None
    assert (bits(sums) == bits(accumulate(accumulate(exact[0], exact[1]), exact[2]))).all()


@pytest.mark.parametrize("number", [np.inf, -np.inf, np.nan, 6e4])
def test_numbers_that_the_fast_functions_do_not_take(number):
    one = np.ones((1, 16), np.float16)
    other = one.copy()
    other[0, 3] = number
    assert dots(one, other) is None
    assert dots(other, one) is None
    assert (dots(other, 0 * one) is None) == (number != 6e4)
    assert dots(-other, one) is None
    assert (running_sums(other, widened(one)[None], [True]) is None) == (number != 6e4)


def test_sums_that_the_fast_functions_do_not_take():
    """The fast functions refuse a sum that becomes infinite, such as 6e4 + 6e4 in fp16."""
    large = np.full(2, 6e4, np.float16)
    terms = widened(np.array([large, -large]))
    assert running_sums(large, terms.copy(), [True, True]) is None
    assert running_sums(large, terms[1:], [True]) is not None


PROGRAM = """
mmr op, mul
mmr arrange, {arrange}
mmr format, {form}
{words}
iosa[1] <- rz
rop <- iosa[1]
act 0
rz <- rop * iosa[0]
end
"""


def words(chance: Random) -> str:
    """Lines that open rows, load Rop and multiply, sometimes with another operation between."""
    lines = []
    for step in range(20):
        lines.append(f"act {chance.randrange(6)}")
        if chance.random() < 0.8:
            lines.append(f"rop <- iosa[{chance.randrange(4)}]")
        if step < 3 or chance.random() < 0.2:
            lines.append(f"mmr accumulate, {chance.choice([0, 1, 1, 1])}")
        first = chance.choice([16, 16, 16, 20, 8])
        lines.append(f"rz <- rop * iosa[{first}:{first + chance.choice([1, 8, 12])}]")
        if chance.random() < 0.3:
            lines.append(
                chance.choice(["gio <- iosa[5]", "rz <- iosa[3] * gio", "rop <- gio", "rop <- rz",
                               "iosa[6] <- gio", "iosa[2] <- rz", "rz <- rop * gio", "pre",
                               "fim 6, 31, -1, 5"])
            )  # fmt: skip
            if lines[-1] == "pre":
                lines.append("act 1")
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("arrange", "form", "scale"),
    [
        ("dot", "fp16", 0.1),
        ("dot", "fp16", 30.0),
        ("dot", "fp16", 3e-4),
        ("dot", "fp32", 1.0),
        ("dot", "bf16", 1.0),
        ("tensor", "bf16", 1.0),
        ("elementwise", "fp16", 1.0),
        ("outer", "fp16", 1.0),
        ("tensor", "fp16", 1.0),
    ],
)
@pytest.mark.parametrize("seed", range(2))
def test_deferred_products_leave_the_state_of_the_reference(
    arrange, form, scale, seed, monkeypatch
):
    used = []
    together = DeferredData._add_dots

    def add_dots(*items):
        used.append(together(*items))
        return used[-1]

    monkeypatch.setattr(DeferredData, "_add_dots", add_dots)
    if seed:  # compute the products of each word at once, because the record is full
        monkeypatch.setattr(deferred_data, "_MOST_RESULTS", 1)
    text = PROGRAM.format(arrange=arrange, form=form, words=words(Random(seed)))
    lines = [".block banks=(0, 2)", *text.split("\n")]
    lines += [
        ".block banks=1",
        "mmr op, mul",
        "act 1",
        "rop <- iosa[0]",
        "rz <- rop * iosa[16:32]",
        "end",
    ]
    random = np.random.default_rng(seed)
    own = element_type(next(row.dtype for row in FORMATS if row.name == form))
    kind = own if form == "bf16" else np.float16
    data = to_host(random.standard_normal((4, 6, 512)) * scale, kind)
    device = config.load("tiny").changed({"fim.island.0.formats": "bf16 fp16 fp32"})
    devices = []
    for engine in ENGINES:
        machine = Machine(lines, device, engine)
        for bank in range(4):
            for row in range(6):
                machine.put(bank, row, 0, data[bank, row])
        machine.done()
        devices.append(machine.device)
    assert devices[0].cycle == devices[1].cycle
    assert devices[0].diff(devices[1].snapshot()) == []
    assert any(used) or (arrange, form) != ("dot", "fp16") or scale == 30.0


FAULT_OF_A_SECOND_BLOCK = [
    ".block banks=0", "mmr op, mul", "mmr arrange, dot", "act 0", "rop <- iosa[0]",
    "fim 6, 1, 1, 4", "act 1", "end",
    ".block banks=1", "mmr row3, 63", "act row3, inc=1", *["mmr accumulate, 0"] * 30, "act row3",
    "end",
]  # fmt: skip


@pytest.mark.parametrize("is_observed", [False, True])
def test_nothing_is_deferred_after_a_fault(is_observed):
    """When a block faults, the fast engine has computed all data of the operations before.

    This holds with a listener and without.
    """
    states = []
    for engine in ENGINES:
        machine = Machine(FAULT_OF_A_SECOND_BLOCK, engine=engine)
        for bank in (0, 1):
            machine.put(bank, 0, 0, np.ones((8, 16), np.float16))
            machine.put(bank, 1, 0, np.full((8, 16), 2, np.float16))
        if is_observed:
            machine.island.listeners.append(lambda event: None)
        machine.start()
        stop = machine.run()
        assert stop.reason == "fault"
        state = machine.island.state
        states.append((stop.cycle, state.rz.tobytes(), state.rop.tobytes(), state.iosa.tobytes()))
        assert type(machine.island.data) is CircuitData
    assert states[0] == states[1]


@pytest.mark.parametrize(("blocks", "least", "most"), [(1, 1, 4), (2, 4, 8)])
def test_an_island_with_several_blocks_tests_for_interrupts_more_often(blocks, least, most):
    """Words of several blocks in one cycle take more time, so their bursts have fewer cycles."""
    lines = []
    for block in range(blocks):
        lines += [f".block banks={block}", "loop 500", *["mmr accumulate, 1"] * 32]
        lines += ["endloop", "end"]
    machine = Machine(lines).start()
    times = []

    def pause():
        times.append(machine.device.cycle)
        return False

    machine.device.pause = pause
    machine.run()
    assert machine.device.cycle > 500 * 32
    assert least <= len(times) <= most
