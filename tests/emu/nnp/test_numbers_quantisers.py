"""Quantisers of nnp against exact fractions: every fp16 number alone, blocks by property."""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.emu.nnp.numbers import (
    HOST,
    NotANumber,
    Quantiser,
    dequantise,
    quantise,
    requantise,
)
from tests.emu.exact_floats import EDGES, HALF, SINGLE
from tests.emu.nnp.exact_numbers import FLOATS, bits_of, fraction_of, quantised

pytestmark = pytest.mark.once

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
NUMBERS = ALL[~np.isnan(ALL)]


# Significands (10 bits) around those that lie between two codes of few bits.
ENDS_AND_MIDDLES = {(place + off) & 1023 for place in range(0, 1024, 128) for off in (-1, 0, 1)}


@cache
def exact_numbers() -> list[Fraction]:
    return [fraction_of(x, HALF) for x in bits_of(NUMBERS)]


QUANTISERS = (
    [Quantiser("bfp", w) for w in range(3, 17)]
    + [Quantiser("int", w) for w in (3, 8, 16)]
    + [Quantiser("log", w) for w in range(3, 8)]
    + [Quantiser("float", exponent_bits=e, mantissa_bits=m)
       for e, m in ((2, 1), (3, 2), (4, 3), (5, 2), (5, 10))]
)  # fmt: skip


def named(quantiser: Quantiser) -> str:
    if quantiser.kind == "float":
        return f"float{quantiser.exponent_bits}.{quantiser.mantissa_bits}"
    return f"{quantiser.kind}{quantiser.bits}"


any_quantiser = st.one_of(
    st.builds(Quantiser, st.sampled_from(["bfp", "int", "log"]), st.integers(3, 16)),
    st.builds(Quantiser, st.just("float"), st.just(8), st.integers(2, 5), st.integers(1, 10)),
)


@pytest.mark.few(9)
@pytest.mark.parametrize("quantiser", QUANTISERS, ids=named)
def test_every_fp16_number_as_a_block_of_one(
    quantiser: Quantiser, pytestconfig: pytest.Config
) -> None:
    """Each fp16 number, alone in a block, is quantised and restored as defined (seed 003 ¶42, ¶44).

    Without --long, only some significands of each exponent are tested.
    """
    found = quantise(NUMBERS[:, None], quantiser)
    back = dequantise(found, quantiser)[:, 0].tolist()
    codes, exponents = found.codes[:, 0].tolist(), found.exponents.tolist()
    every = pytestconfig.getoption("--long")
    for i, (bits, exact) in enumerate(zip(bits_of(NUMBERS), exact_numbers(), strict=True)):
        if not every and i % 29 and bits & 1023 not in ENDS_AND_MIDDLES:
            continue
        block = quantised([exact], quantiser)
        assert (codes[i], exponents[i]) == (block.codes[0], block.exponent), exact
        assert back[i] == block.values[0], exact


def host_bits(name: str) -> st.SearchStrategy[int]:
    """Draw bits of host numbers: any, special ones, and numbers of usual size."""
    host = FLOATS[name]
    kind = {HALF: "e", SINGLE: "f"}[host]
    common = st.floats(-4, 4, width=16).map(
        lambda x: int.from_bytes(struct.pack(f"<{kind}", x), "little")
    )
    return st.one_of(st.integers(0, 2**host.bits - 1), st.sampled_from(EDGES[host]), common)


def array_of(bits: list[int], name: str) -> np.ndarray:
    return np.array(bits, f"u{np.dtype(HOST[name]).itemsize}").view(HOST[name])


@settings(max_examples=300)
@given(st.data(), any_quantiser, st.sampled_from(["fp16", "fp32"]))
def test_blocks(data: st.DataObject, quantiser: Quantiser, name: str) -> None:
    """Blocks are quantised as exact fractions are (seed 003 ¶35-36, ¶45)."""
    host = FLOATS[name]
    bits = data.draw(st.lists(host_bits(name).filter(lambda x: not host.is_nan(x)),
                              min_size=1, max_size=6))  # fmt: skip
    values = array_of(bits, name)
    found = quantise(values, quantiser)
    expected = quantised([fraction_of(x, host) for x in bits], quantiser)
    assert found.codes.dtype == np.int16
    assert found.exponents.dtype == np.int8
    assert found.codes.tolist() == expected.codes
    assert int(found.exponents) == expected.exponent
    assert [Fraction(x) for x in dequantise(found, quantiser).tolist()] == expected.values
    again = requantise(values, quantiser)
    assert bits_of(again) == [host.rounded(x) for x in expected.values]


@given(any_quantiser, st.integers(0, 2**32 - 1))
def test_blocks_of_an_array_are_quantised_apart(quantiser: Quantiser, seed: int) -> None:
    """Each block of an array has its own exponent (seed 003 ¶45)."""
    random = np.random.default_rng(seed)
    scale = 2.0 ** random.integers(-10, 10, (3, 2, 1))
    values = (random.normal(size=(3, 2, 4)) * scale).astype(np.float16)
    values[0, 1] = 0
    found = quantise(values, quantiser)
    for i in range(3):
        for j in range(2):
            alone = quantise(values[i, j], quantiser)
            assert found.codes[i, j].tolist() == alone.codes.tolist()
            assert found.exponents[i, j] == alone.exponents


def test_the_rules_of_bfp_by_hand() -> None:
    """BFP codes and exponents as calculated by hand (seed 003 ¶35-36, ¶45)."""
    eight = Quantiser("bfp", 8)

    def of(*values: float) -> tuple[list[int], int]:
        found = quantise(np.array(values, np.float32), eight)
        return found.codes.tolist(), int(found.exponents)

    assert of(0.0, -0.0) == ([0, 0], -15)
    assert of(1.0, 0.5) == ([64, 32], 1)  # |1| < 2**1, and not below 2**0
    assert of(0.998, -0.998) == ([127, -128], 0)  # 127.7: the positive end saturates
    assert of(2**-7 * 0.5, 0.75) == ([0, 96], 0)  # a tie goes to the even one
    assert of(2**-7 * 1.5, 0.75) == ([2, 96], 0)
    assert of(2.0**-20) == ([4], -15)  # no exponent is smaller
    assert of(1e30, -1e30, 40000.0) == ([127, -128, 78], 16)  # none is greater
    assert of(np.inf, -np.inf, 1.0) == ([127, -128, 0], 16)
    assert of(2.0**-149, 0.0) == ([0, 0], -15)


def test_a_mantissa_of_the_lower_end_may_be_infinite_in_fp16() -> None:
    values = np.array([-65504], np.float16)
    assert requantise(values, Quantiser("bfp", 8)).tolist() == [-np.inf]
    assert requantise(-values, Quantiser("bfp", 8)).tolist() == [65024]


@pytest.mark.parametrize("name", ["fp16", "fp32"])
def test_a_small_float_of_the_size_of_fp16_changes_no_fp16_number(name: str) -> None:
    finite = ALL[np.isfinite(ALL)].astype(HOST[name])
    again = requantise(finite, Quantiser("float", exponent_bits=5, mantissa_bits=10))
    assert bits_of(again) == bits_of(finite + HOST[name](0))  # -0 becomes +0


def test_ranges_of_small_floats() -> None:
    for exponent, mantissa, largest, least in ((4, 3, 240, 2.0**-9), (5, 2, 57344, 2.0**-16)):
        quantiser = Quantiser("float", exponent_bits=exponent, mantissa_bits=mantissa)
        ends = np.array([1e9, -np.inf, least, least / 2, least * 1.5], np.float32)
        expected = [largest, -largest, least, 0, least * 2]
        assert requantise(ends, quantiser).tolist() == expected


@example(np.float32(np.sqrt(2)).view(np.uint32).item())
@example(np.float32(np.sqrt(2)).view(np.uint32).item() + 1)
@example(np.float32(np.sqrt(0.5)).view(np.uint32).item())
@given(st.integers(0x3F000000, 0x40800000))
def test_powers_near_the_root_of_two(bits: int) -> None:
    """Near the root of two, a number goes to the nearer power of two (seed 003 ¶42)."""
    values = np.array([bits], np.uint32).view(np.float32)
    quantiser = Quantiser("log", 5)
    expected = quantised([SINGLE.value(bits)], quantiser)
    assert quantise(values, quantiser).codes.tolist() == expected.codes


@pytest.mark.parametrize("kind", ["bfp", "int", "log", "float", "mx"])
def test_a_nan_is_refused_with_its_place(kind: str) -> None:
    values = np.zeros((2, 3, 4), np.float16)
    values[1, 2, 3] = values[1, 0, 2] = np.nan
    with pytest.raises(NotANumber, match="element 1, 0, 2 is not a number") as caught:
        quantise(values, Quantiser(kind))  # type: ignore[arg-type]
    assert caught.value.index == (1, 0, 2)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"kind": "bfp", "bits": 2}, "a width of 2 is out of range, 3 to 16"),
        ({"kind": "int", "bits": 17}, "a width of 17 is out of range, 3 to 16"),
        ({"kind": "float", "exponent_bits": 6}, "an exponent width of 6 is out of range, 2 to 5"),
        ({"kind": "float", "mantissa_bits": 0}, "a mantissa width of 0 is out of range, 1 to 10"),
        ({"kind": "mx", "block": 0}, "a block of 0 is out of range, 1 to 1024"),
        ({"kind": "mx", "element": "e1m1"}, "no element type is called 'e1m1'"),
        ({"kind": "posit"}, "no quantiser is called 'posit'"),
    ],
)  # fmt: skip
def test_widths_that_there_are_not(arguments: dict[str, object], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        Quantiser(**arguments)  # type: ignore[arg-type]


def test_an_array_without_blocks() -> None:
    found = quantise(np.zeros((0, 4), np.float16), Quantiser("bfp"))
    assert found.codes.shape == (0, 4)
    assert found.exponents.shape == (0,)


def test_a_factor_cannot_be_taken_out_of_a_quantised_product() -> None:
    """Weights times 3 do not give 3 times the quantised product (seed 003 ¶38).

    The scaled weights are rounded differently. Only a factor that is a power of two changes just
    the exponents.
    """
    chance = np.random.default_rng(1)
    weights, x = chance.normal(size=(8, 8)), chance.normal(size=8)
    quantiser = Quantiser("bfp", 5)

    def product(factor: float) -> np.ndarray:
        rows, vector = (
            dequantise(quantise((values * scale).astype(np.float32), quantiser), quantiser)
            for values, scale in ((weights, factor), (x, 1))
        )
        return np.asarray(rows @ vector)

    assert np.allclose((3 * weights) @ x, 3 * (weights @ x), rtol=1e-12)
    assert not np.allclose(product(3), 3 * product(1), rtol=1e-3)
    assert np.array_equal(product(4), 4 * product(1))
