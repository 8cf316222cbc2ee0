"""The microscaling formats (OCP MX): quantisers against ml_dtypes, products against fractions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from macaw.emu.nnp.numbers import (
    HOST,
    OutOfRange,
    Quantised,
    Quantiser,
    Tiles,
    dequantise,
    quantise,
)
from macaw.isa.nnp_elements import MX_ELEMENTS
from tests.emu.nnp.exact_numbers import FLOATS, bits_of, rounded_long

pytestmark = pytest.mark.once

Floats = np.ndarray[Any, np.dtype[np.float64]]
BLOCK = 32


def int8(x: Floats) -> Floats:
    """MXINT8: integers from -127 to 127, in units of 2**-6."""
    return np.clip(np.rint(x * 64), -127, 127) / 64


def cast(dtype: Any) -> Callable[[Floats], Floats]:
    """Conversion to an element type of ml_dtypes; numbers that are too large become the largest."""
    largest = float(ml_dtypes.finfo(dtype).max)
    return lambda x: np.clip(x, -largest, largest).astype(dtype).astype(np.float64)


# By element type: the conversion of scaled numbers, and the exponent of the largest number (emax).
ORACLES: dict[str, tuple[Callable[[Floats], Floats], int]] = {
    "e4m3": (cast(ml_dtypes.float8_e4m3fn), 8),
    "e5m2": (cast(ml_dtypes.float8_e5m2), 15),
    "e2m3": (cast(ml_dtypes.float6_e2m3fn), 2),
    "e3m2": (cast(ml_dtypes.float6_e3m2fn), 4),
    "e2m1": (cast(ml_dtypes.float4_e2m1fn), 2),
    "int8": (int8, 0),
}


def scales(blocks: np.ndarray[Any, Any], emax: int) -> np.ndarray[Any, Any]:
    """The exponents of the scales of blocks (..., 32), from exponent fields of binary32."""
    largest = np.abs(blocks.astype(np.float32)).max(axis=-1)
    field = (largest.view(np.uint32) >> 23).astype(np.int64)
    exponents = np.clip(field - 127 - emax, -127, 127)
    return np.where(np.isinf(largest), 127, np.where(largest == 0, -127, exponents))


def drawn(rng: np.random.Generator, blocks: int, dtype: Any) -> np.ndarray[Any, Any]:
    """Random blocks: with any bits, near exponents, few digits (ties), or infinities."""
    size = (blocks, BLOCK)
    unsigned = np.dtype(f"u{np.dtype(dtype).itemsize}")
    bits = rng.integers(0, np.iinfo(unsigned).max, size, unsigned, endpoint=True).view(dtype)
    top = 12 if dtype is np.float16 else 100
    base = 2.0 ** rng.integers(-top, top, (blocks, 1))
    with np.errstate(over="ignore"):
        near = (rng.normal(size=size) * base).astype(dtype)
        few = rng.integers(-128, 129, size) * 2.0 ** rng.integers(-6, 1, size)
        ties = (few * base).astype(dtype)
    values = np.where(rng.random((blocks, 1)) < 0.4, near, ties)
    values = np.where(rng.random((blocks, 1)) < 0.2, bits, values)
    values[rng.random(blocks) < 0.02] = 0
    return np.where(np.isnan(values), dtype(0), values)


def check(element: str, dtype: Any, blocks: int, seed: int) -> int:
    """Compare random blocks with the oracle; return the number of compared elements."""
    convert, emax = ORACLES[element]
    values = drawn(np.random.default_rng(seed), blocks, dtype)
    found = quantise(values, Quantiser("mx", element=element))
    exponents = scales(values, emax)
    assert np.array_equal(found.exponents, exponents)
    scaled = values.astype(np.float64) * 2.0 ** -exponents[:, None]
    expected = convert(scaled) * 2.0 ** exponents[:, None]
    assert np.array_equal(dequantise(found, Quantiser("mx", element=element)), expected)
    return values.size


@pytest.mark.parametrize("element", MX_ELEMENTS)
@pytest.mark.parametrize("host", HOST)
def test_blocks_as_ml_dtypes_converts_them(element: str, host: str) -> None:
    """Blocks are quantised as ml_dtypes does it (seed 003 ¶42, ¶44).

    The rules are those of OCP Microscaling Formats 1.0, 5.2 to 6.3.
    """
    assert check(element, HOST[host], 1000, seed=1) == 32_000


@pytest.mark.long
@pytest.mark.parametrize("element", MX_ELEMENTS)
def test_ten_million_numbers(element: str) -> None:
    done = 0
    for seed, host in enumerate(["fp16", "fp32"] * 5):
        done += check(element, HOST[host], 1_000_000 // BLOCK, seed + 100)
    assert done == 10_000_000


@pytest.mark.parametrize("element", MX_ELEMENTS)
def test_each_code_stands_for_its_number(element: str) -> None:
    """Quantising a number of an element type under a scale of 1 gives the same number."""
    convert, emax = ORACLES[element]
    grid = np.unique(convert(np.linspace(-(2.0 ** (emax + 1)), 2.0 ** (emax + 1), 1 << 16)))
    small = np.unique(convert(grid * 2.0**-8))
    numbers = np.concatenate([grid, small])
    blocks = np.stack([numbers, np.full(len(numbers), 2.0**emax)], axis=1).astype(np.float32)
    found = quantise(blocks, Quantiser("mx", element=element))
    assert not found.exponents.any()
    assert dequantise(found, Quantiser("mx", element=element))[:, 0].tolist() == numbers.tolist()


def test_a_vector_of_several_blocks_is_quantised_block_by_block() -> None:
    rng = np.random.default_rng(3)
    values = drawn(rng, 12, np.float16).reshape(3, 4 * BLOCK)
    quantiser = Quantiser("mx", element="e3m2")
    assert quantiser.blocks(4 * BLOCK) == 4
    found = quantise(values, quantiser)
    assert found.exponents.shape == (3, 4)
    alone = quantise(values.reshape(12, BLOCK), quantiser)
    assert np.array_equal(found.codes.reshape(12, BLOCK), alone.codes)
    assert np.array_equal(found.exponents.ravel(), alone.exponents)
    parts = dequantise(alone, quantiser).reshape(values.shape)
    assert np.array_equal(dequantise(found, quantiser), parts)


def test_ends_of_the_formats() -> None:
    """Too large or infinite numbers get the largest code; tiny ones and both zeros get 0."""

    def codes(values: list[float], element: str) -> tuple[list[int], int]:
        found = quantise(np.array(values, np.float32), Quantiser("mx", element=element))
        return found.codes.tolist(), int(found.exponents)

    assert codes([480, -480, 1, -0.0], "e4m3") == ([126, -126, 56, 0], 0)  # 448 is the largest
    assert codes([1.9999, -1.9999, 1, -(2.0**-7)], "int8") == ([127, -127, 64, 0], 0)
    assert codes([np.inf, -1.0], "e2m1") == ([7, 0], 127)
    assert codes([0, 0], "e5m2") == ([0, 0], -127)
    assert codes([2.0**-149, 0], "int8") == ([0, 0], -127)  # 2**-149 / 2**-127 is below 2**-7
    assert codes([5, 2.5, 1.75, 0.25], "e2m1") == ([6, 4, 4, 0], 0)  # ties to the even code


def exact_product(
    tiles: Quantised, matrix: Quantiser, vectors: Quantised, vector: Quantiser, width: int
) -> list[tuple[int, int]]:
    """V and exponent of each element, block after block, by docs/numbers-nnp.md.

    Elements are scaled to be below 2. V then has 40 fraction bits, or more if a product needs more.
    """
    emax = [ORACLES[x.element][1] for x in (matrix, vector)]
    # The least number of an element type is 2**-(...) of its emax: this many bits.
    behind = {"e4m3": 17, "e5m2": 31, "e2m3": 5, "e3m2": 8, "e2m1": 3, "int8": 6}
    bits = behind[matrix.element] + behind[vector.element]
    a = dequantise(Quantised(tiles.codes, np.zeros_like(tiles.exponents)), matrix)
    x = dequantise(Quantised(vectors.codes, np.zeros_like(vectors.exponents)), vector)
    rows, cols, native, _ = a.shape
    results = []
    for i, r, j in np.ndindex(len(x), rows, native):
        total = exponent = 0
        for c, start in np.ndindex(cols, native // width):
            part = slice(start * width, (start + 1) * width)
            pairs = zip(a[r, c, j, part].tolist(), x[i, c, part].tolist(), strict=True)
            dot = sum(Fraction(p) * Fraction(q) for p, q in pairs) / 2 ** sum(emax)
            value = dot * 2 ** max(40, bits)
            assert value.denominator == 1
            shared = int(tiles.exponents[r, c, j].ravel()[start])
            shared += int(vectors.exponents[i, c].ravel()[start])
            e = shared + sum(emax) + 40 - max(40, bits)
            if c == start == 0:
                total, exponent = int(value), e
            else:
                larger = max(exponent, e)
                total = (total >> larger - exponent) + (int(value) >> larger - e)
                exponent = larger
            if not -(2**73) <= total < 2**73:
                raise OverflowError
        results.append((total, exponent))
    return results


@pytest.mark.parametrize("pair", [
    ("e4m3", "e4m3"), ("e5m2", "e5m2"), ("e5m2", "e4m3"), ("e2m1", "e4m3"), ("e2m1", "e2m1"),
    ("int8", "e2m3"), ("e3m2", "e5m2"),
], ids="-".join)  # fmt: skip
@pytest.mark.parametrize("spread", [0, 30, 100])
def test_products(pair: tuple[str, str], spread: int) -> None:
    """Products of vectors of one or two blocks equal the model, whatever the scales."""
    rng = np.random.default_rng(spread)
    for native, block in ((4, 32), (6, 3)):
        matrix, vector = (Quantiser("mx", element=name, block=block) for name in pair)
        width = min(block, native)
        blocks = 2, 3, native, native // width
        base = 2.0 ** rng.integers(-spread // 2, spread // 2 + 1, blocks)
        a = rng.normal(size=(2, 3, native, native)) * np.repeat(base, width, axis=-1)
        x = rng.normal(size=(2, 3, native)) * 2.0 ** rng.integers(-spread, 1, (2, 3, 1))
        a[0, 1, 2], x[1, 0] = 0, 0
        tiles = quantise(a.astype(np.float32), matrix)
        vectors = quantise(x.astype(np.float32), vector)
        expected = exact_product(tiles, matrix, vectors, vector, width)
        prepared = Tiles(tiles, matrix, vector)
        long = prepared.long(vectors)
        parts = (x.ravel().tolist() for x in (long.whole, long.fraction, long.exponent))
        found = [(whole * 2**40 + rest, e) for whole, rest, e in zip(*parts, strict=True)]
        assert found == expected
        for name, dtype in HOST.items():
            rounded = [rounded_long(v, e, FLOATS[name]) for v, e in expected]
            assert bits_of(prepared.times(vectors, dtype)) == rounded


def test_sums_that_74_bits_do_not_hold() -> None:
    """A sum of largest fp8 products, 2**69 a block, raises `OutOfRange` at the right column."""
    quantiser = Quantiser("mx", element="e5m2")
    cols = 40
    tiles = quantise(np.full((1, cols, 32, 32), 57344, np.float32), quantiser)
    vectors = quantise(np.full((1, cols, 32), 57344, np.float32), quantiser)
    with pytest.raises(OutOfRange) as caught:
        Tiles(tiles, quantiser, quantiser).times(vectors, np.float32)
    assert caught.value.column == 20  # 2**73 is 20.9 blocks of 32 · (57344 · 2**16)**2
