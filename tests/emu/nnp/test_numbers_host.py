"""Host operations, sigmoid, tanh and softmax of nnp against exact fractions and decimals."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.emu import curves as activations
from macaw.emu.floats import round_fraction
from macaw.emu.nnp.numbers import (
    HOST,
    add,
    maximum,
    multiply,
    relu,
    sigmoid,
    softmax,
    subtract,
    tanh,
    to_host,
)
from tests.emu.exact_floats import EDGES, HALF, SINGLE, Float
from tests.emu.nnp import exact_numbers
from tests.emu.nnp.exact_numbers import FLOATS, UNSIGNED, bits_of

pytestmark = pytest.mark.once

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)


def array_of(bits: list[int], name: str) -> np.ndarray:
    return np.array(bits, UNSIGNED[name]).view(HOST[name])


def near(bits: int, host: Float) -> int:
    """A number with an exponent near 1, so that sums lose digits and products do not overflow."""
    middle = (1 << host.exponent - 1) - 1 << host.precision - 1
    return bits & ~host.infinity | middle + (bits % 5 - 2 << host.precision - 1)


def pairs(name: str) -> st.SearchStrategy[list[tuple[int, int]]]:
    host = FLOATS[name]
    any_bits = st.integers(0, 2**host.bits - 1)
    one = st.one_of(any_bits, any_bits.map(lambda x: near(x, host)), st.sampled_from(EDGES[host]))
    return st.lists(st.tuples(one, one), min_size=1, max_size=30)


@settings(max_examples=200)
@given(st.data(), st.sampled_from(["fp16", "fp32"]))
def test_two_operands(data: st.DataObject, name: str) -> None:
    host = FLOATS[name]
    found = data.draw(pairs(name))
    x, y = (array_of([pair[i] for pair in found], name) for i in (0, 1))
    witnesses = {
        add: host.add,
        subtract: lambda a, b: host.add(a, host.negative(b)),
        multiply: host.multiply,
        maximum: lambda a, b: exact_numbers.maximum(a, b, host),
    }
    for operation, witness in witnesses.items():
        result = operation(x, y)
        assert result.dtype == HOST[name]
        assert bits_of(result) == [witness(a, b) for a, b in found], operation.__name__
    assert bits_of(relu(x)) == [exact_numbers.maximum(a, 0, host) for a, _ in found]


@pytest.mark.parametrize("name", ["fp16", "fp32"])
def test_edges_with_edges(name: str) -> None:
    host = FLOATS[name]
    edges = EDGES[host]
    x = np.repeat(array_of(list(edges), name), len(edges))
    y = np.tile(array_of(list(edges), name), len(edges))
    before = bits_of(x), bits_of(y)
    both = [(a, b) for a in edges for b in edges]
    assert bits_of(add(x, y)) == [host.add(a, b) for a, b in both]
    assert bits_of(subtract(x, y)) == [host.add(a, host.negative(b)) for a, b in both]
    assert bits_of(multiply(x, y)) == [host.multiply(a, b) for a, b in both]
    assert bits_of(maximum(x, y)) == [exact_numbers.maximum(a, b, host) for a, b in both]
    assert (bits_of(x), bits_of(y)) == before  # operands stay


@settings(max_examples=300)
@example((1 << 52) + 1, -52)
@example((1 << 25) + 1, -50)  # half of the least fp16 number, and more
@example((1 << 52) + (1 << 41) + 1, -52)
@given(st.integers(1, 2**53 - 1), st.integers(-80, 20))
def test_binary64_is_rounded_once(digits: int, exponent: int) -> None:
    value = Fraction(digits) * Fraction(2) ** exponent
    for dtype, host in ((np.float16, HALF), (np.float32, SINGLE)):
        exact = np.ldexp(np.array([digits], np.float64), exponent)
        assert bits_of(to_host(exact, dtype)) == [host.rounded(value)]
        assert bits_of(np.array([round_fraction(value, dtype)])) == [host.rounded(value)]


def is_nearest(found: int, true: Fraction, host: Float) -> bool:
    """Whether the number with these bits is the one nearest to `true`."""
    return found == host.rounded(true)


@pytest.mark.parametrize(("name", "curve"), [("sigmoid", sigmoid), ("tanh", tanh)])
def test_every_fp16_number_is_rounded_correctly(name: str, curve: object) -> None:
    """sigmoid and tanh of every fp16 number are correctly rounded (seed 003 ¶48)."""
    assert callable(curve)
    results = bits_of(curve(ALL))
    limits = {"sigmoid": (0, 0x3C00), "tanh": (0xBC00, 0x3C00)}[name]
    for bits, found in enumerate(results):
        if HALF.is_nan(bits):
            assert found == HALF.nan
        elif bits & ~HALF.sign > 0x4E00:  # beyond ±24 all are at an end, infinities too
            assert found == limits[0 if bits & HALF.sign else 1]
        elif bits % 0x8000 == 0:
            assert found == (0x3800 if name == "sigmoid" else bits)
        elif bits & HALF.sign == 0 or bits % 16 == 0 or name == "tanh":
            if name == "tanh" and bits & HALF.sign:
                assert found == results[bits ^ HALF.sign] | HALF.sign
                continue
            x = Decimal(float(ALL[bits]))
            assert is_nearest(found, exact_numbers.curve(name, x), HALF), hex(bits)


# Of all arguments those where binary64 comes nearest to a tie, and results that are subnormal.
HARD = {
    "sigmoid": (0xBA928601, 0xBDA363F4, 0xBE104170, 0xBF1964D0, 0xB813C000, 0xB3800000, 0xC2AEAC50,
                0xC2CFF1B4, 0xC2CFF1B5, 0xC2CFF1B6, 0xC2B0C0A5),
    "tanh": (0x3AC37DE2, 0x3CD41B91, 0x3EEE0566, 0x40ACB4D0, 1, 0x007FFFFF, 0x00800000, 0x39800000),
    "exp": (0xB3000000, 0xBAE0E25C, 0xBBB70EE8, 0xBBF0EDF1, 0xBC2A461A, 0xC1DDCE5D),
}  # fmt: skip


@pytest.mark.parametrize(("name", "curve"), [("sigmoid", sigmoid), ("tanh", tanh)])
def test_fp32_numbers_are_rounded_correctly(name: str, curve: object) -> None:
    assert callable(curve)
    random = np.random.default_rng(5)
    wide = random.normal(size=700) * 2.0 ** random.integers(-30, 7, 700)
    bits = [*bits_of(wide.astype(np.float32)), *HARD[name], *(x | 1 << 31 for x in HARD[name])]
    for x, found in zip(bits, bits_of(curve(array_of(bits, "fp32"))), strict=True):
        value = Decimal(float(SINGLE.value(x)))
        assert is_nearest(found, exact_numbers.curve(name, value), SINGLE), hex(x)
    ends = curve(np.array([np.inf, -np.inf, 0.0, -0.0, 200, -200], np.float32))
    expected = [1, 0, 0.5, 0.5, 1, 0] if name == "sigmoid" else [1, -1, 0.0, -0.0, 1, -1]
    assert bits_of(ends) == bits_of(np.array(expected, np.float32))
    odd = array_of([0xFFC12345, 0x7FA00000], "fp32")
    assert bits_of(curve(odd)) == [SINGLE.nan] * 2


def test_what_binary64_does_not_decide_goes_to_decimals(monkeypatch: pytest.MonkeyPatch) -> None:
    # With a margin as wide as fp16's last place, binary64 decides nothing; results stay the same.
    numbers = ALL[0x2C00:0x4C00:97]
    single = numbers.astype(np.float32)
    expected = [bits_of(activations._curve(name, x)) for name in ("sigmoid", "tanh")
                for x in (numbers, single)]  # fmt: skip
    sums = bits_of(softmax(-single, len(single)))
    monkeypatch.setattr(activations, "_MARGIN", 2.0**-9)
    assert expected == [bits_of(activations._curve(name, x)) for name in ("sigmoid", "tanh")
                        for x in (numbers, single)]  # fmt: skip
    assert sums == bits_of(softmax(-single, len(single)))
    monkeypatch.setattr(activations, "_DIGITS", 8)  # too few at first
    assert expected[:2] == [bits_of(activations._curve("sigmoid", x)) for x in (numbers, single)]


@settings(max_examples=60)
@given(st.data(), st.sampled_from(["fp16", "fp32"]))
def test_softmax(data: st.DataObject, name: str) -> None:
    """softmax equals the model's results in each bit (seed 003 ¶48)."""
    host = FLOATS[name]
    any_bits = st.integers(0, 2**host.bits - 1)
    sizes = st.sampled_from([any_bits.map(lambda x: near(x, host)),
                             st.one_of(any_bits, st.sampled_from(EDGES[host])),
                             st.sampled_from([0, EDGES[host][11], 0xC000 << host.bits - 16])])  # fmt: skip
    bits = data.draw(st.lists(data.draw(sizes), min_size=1, max_size=12))
    valid = data.draw(st.integers(0, len(bits) + 2))
    found = bits_of(softmax(array_of(bits, name), valid))
    chosen = bits[:valid]
    expected = exact_numbers.softmax(chosen, host) if chosen else []
    assert found == expected + [0] * (len(bits) - len(chosen))


def test_softmax_of_an_array_is_one_of_each_row() -> None:
    random = np.random.default_rng(1)
    for dtype in HOST.values():
        values = (random.normal(size=(3, 2, 40)) * 5).astype(dtype)
        values[1, 1, 3] = np.nan
        values[2, 0, 39] = np.nan  # not among the valid ones
        found = softmax(values, 30)
        for place in np.ndindex(3, 2):
            assert bits_of(found[place]) == bits_of(softmax(values[place], 30))
        assert np.isnan(found[1, 1, :30]).all()
        assert not found[..., 30:].any()
        assert np.allclose(found[0].astype(float).sum(-1), 1, atol=0.01)


def test_softmax_near_scipy() -> None:
    special = pytest.importorskip("scipy.special")
    values = (np.random.default_rng(2).normal(size=(50, 300)) * 4).astype(np.float32)
    expected = special.softmax(values, axis=-1)
    np.testing.assert_allclose(softmax(values, 300), expected, rtol=1e-5, atol=2.0**-40)


def test_a_tie_of_softmax_goes_to_even() -> None:
    # The sum is 2 plus the least number, so quotients are next to ties of subnormals.
    small = np.array([0, 0, -16.6], np.float16)
    found = bits_of(softmax(small, 3))
    assert found == exact_numbers.softmax(bits_of(small), HALF)
    assert found[:2] == [0x3800, 0x3800]


def test_grids_of_exponentials() -> None:
    random = np.random.default_rng(6)
    values = -np.abs(random.normal(size=400) * 2.0 ** random.integers(-25, 5, 400))
    for name in ("fp16", "fp32"):
        hard = array_of(list(HARD["exp"]), "fp32").astype(np.float64)
        d = np.concatenate([values, hard, [0.0, -0.0, -30]]).astype(HOST[name])
        got = activations._exponentials(d).tolist()
        for x, found in zip(d.tolist(), got, strict=True):
            true = exact_numbers.curve("exp", Decimal(x))
            if name == "fp32" and true < Fraction(1, 1 << 16):
                assert found == round(true * 2**40)
            else:
                host = FLOATS[name]
                assert Fraction(found, 2**40) == host.value(host.rounded(true))
