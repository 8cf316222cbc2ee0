"""Products of tiles, BFP long and its rounding, against Python's integers element by element."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from macaw.emu.nnp.longs import Long, round_scaled
from macaw.emu.nnp.numbers import HOST, OutOfRange, Quantised, Quantiser, Tiles, round_long
from macaw.emu.nnp.quantisers import integers
from tests.emu.exact_floats import HALF, SINGLE
from tests.emu.nnp.exact_numbers import (
    FLOATS,
    Block,
    LeftRange,
    accumulated,
    bits_of,
    rounded_long,
)

pytestmark = pytest.mark.once

Pair = tuple[Quantiser, Quantiser]  # of matrix, of vectors


def bfp(matrix: int, vector: int) -> Pair:
    return Quantiser("bfp", matrix), Quantiser("bfp", vector)


def small(exponent_bits: int, mantissa_bits: int) -> Pair:
    quantiser = Quantiser("float", exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
    return quantiser, quantiser


def logs(matrix: int, vector: int) -> Pair:
    return Quantiser("log", matrix), Quantiser("log", vector)


def most(quantiser: Quantiser) -> int:
    """The largest code."""
    if quantiser.kind == "log":
        return 2 * quantiser.powers + 1
    if quantiser.kind == "float":
        return (2**quantiser.exponent_bits - 1) * 2**quantiser.mantissa_bits - 1
    return int(2 ** (quantiser.bits - 1) - 1)


def random_blocks(random: np.random.Generator, shape: tuple[int, ...], quantiser: Quantiser,
                  spread: int, extreme: bool) -> Quantised:  # fmt: skip
    """Random codes, with some blocks of zeros; exponents within `spread` of one another."""
    top = most(quantiser)
    least = -top - 1 if quantiser.kind in ("bfp", "int") else -top
    codes = random.integers(least, top, shape, endpoint=True)
    if extreme:
        codes = np.where(random.random(shape) < 0.9, least, codes)
    codes = np.where(random.random((*shape[:-1], 1)) < 0.1, 0, codes)
    exponents = np.zeros(shape[:-1], np.int8)
    if quantiser.kind == "bfp":
        base = random.integers(-15, 16 - spread, endpoint=True)
        exponents = base + random.integers(0, spread, shape[:-1], endpoint=True)
    return Quantised(codes.astype(np.int16), exponents.astype(np.int8))


def blocks(quantised: Quantised, quantiser: Quantiser) -> np.ndarray:
    """Return quantised numbers as an array of `Block`s; other tests check the values of codes."""
    whole = integers(quantised.codes, quantiser)
    found = np.empty(quantised.exponents.shape, object)
    for place in np.ndindex(*found.shape):
        mantissas = whole[place].tolist()
        found[place] = Block([], int(quantised.exponents[place]), mantissas, [])
    return found


def expected(matrix: Quantised, vectors: Quantised, pair: Pair) -> np.ndarray:
    """V and exponent of each element (iterations, rows, N).

    May raise `LeftRange`.
    """
    rows = blocks(matrix, pair[0])
    xs = blocks(vectors, pair[1])
    digits = pair[0].size + pair[1].size
    unit = pair[0].unit + pair[1].unit
    shared = pair[0].kind == "bfp"
    found = np.empty((len(xs), rows.shape[0], rows.shape[2]), object)
    for i, r, j in np.ndindex(*found.shape):
        found[i, r, j] = accumulated(list(rows[r, :, j]), list(xs[i]), digits, shared, unit)
    return found


def joined(long: Long) -> list[tuple[int, int]]:
    parts = (x.reshape(-1).tolist() for x in (long.whole, long.fraction, long.exponent))
    return [(whole * 2**40 + fraction, e) for whole, fraction, e in zip(*parts, strict=True)]


# pair, exponents' spread in matrix and vectors, and the way that products take
CASES = {
    "one product in binary32": (bfp(3, 3), 0, "_sums", 2),
    "a product a column": (bfp(8, 8), 0, "_sums", 80),
    "a product a column, exponents apart": (bfp(8, 9), 12, "_sums", 9),
    "one product in binary64": (bfp(16, 16), 5, "_sums", 3),
    "alignments lose bits": (bfp(16, 16), 12, "_accumulate_64", 3),
    "alignments lose many bits": (bfp(5, 7), 31, "_accumulate_64", 3),
    "integers": ((Quantiser("int", 16), Quantiser("int", 9)), 0, "_sums", 3),
    "powers": (logs(4, 5), 0, "_sums", 3),
    "powers of 60 bits": (logs(6, 6), 0, "_long", 3),
    "powers of 44 bits": (logs(6, 5), 0, "_long", 200),
    "small floats": (small(4, 3), 0, "_sums", 3),
    "small floats of 64 bits": (small(5, 2), 0, "_long", 3),
    "small floats of 80 bits": (small(5, 10), 0, "_long", 1),
}


@pytest.mark.parametrize("case", CASES)
def test_products(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products equal exact integers in each of the three ways to compute them.

    See seed 003 ¶38, ¶41-42.
    """
    pair, spread, way, cols = CASES[case]
    native, taken = 4, []
    for name in ("_sums", "_accumulate_64", "_long"):
        method: Callable[..., object] = getattr(Tiles, name)

        def spied(
            *args: object, _method: Callable[..., object] = method, _name: str = name
        ) -> object:
            taken.append(_name)
            return _method(*args)

        monkeypatch.setattr(Tiles, name, spied)
    random = np.random.default_rng(7)
    for extreme in (False, True):
        matrix = random_blocks(random, (2, cols, native, native), pair[0], spread, extreme)
        vectors = random_blocks(random, (3, cols, native), pair[1], spread, extreme)
        tiles = Tiles(matrix, *pair)
        try:
            values = expected(matrix, vectors, pair)
        except LeftRange:
            with pytest.raises(OutOfRange):
                tiles.times(vectors, np.float32)
            continue
        for name, dtype in HOST.items():
            want = [rounded_long(v, e, FLOATS[name]) for v, e in values.reshape(-1)]
            found = tiles.times(vectors, dtype)
            assert found.shape == (3, 2, native)
            assert bits_of(found) == want
        assert set(taken) == {way}
        assert joined(tiles.long(vectors)) == values.reshape(-1).tolist()
        taken.clear()


any_pair = st.one_of(
    st.builds(bfp, st.integers(3, 16), st.integers(3, 16)),
    st.builds(lambda a, b: (Quantiser("int", a), Quantiser("int", b)),
              st.integers(3, 16), st.integers(3, 16)),
    st.builds(logs, st.integers(3, 7), st.integers(3, 7)),
    st.builds(small, st.integers(2, 5), st.integers(1, 10)),
)  # fmt: skip


@settings(max_examples=150)
@given(any_pair, st.integers(0, 31), st.integers(1, 3), st.integers(1, 5), st.integers(1, 5),
       st.booleans(), st.integers(0, 2**32 - 1))  # fmt: skip
def test_any_product(pair: Pair, spread: int, rows: int, cols: int, native: int, extreme: bool,
                     seed: int) -> None:  # fmt: skip
    """Random products equal exact integers, or both are out of range (seed 003 ¶38)."""
    random = np.random.default_rng(seed)
    matrix = random_blocks(random, (rows, cols, native, native), pair[0], spread, extreme)
    vectors = random_blocks(random, (2, cols, native), pair[1], spread, extreme)
    tiles = Tiles(matrix, *pair)
    try:
        values = expected(matrix, vectors, pair)
    except LeftRange:
        for product in (tiles.long, lambda x: tiles.times(x, np.float16)):
            with pytest.raises(OutOfRange):
                product(vectors)
        return
    assert joined(tiles.long(vectors)) == values.reshape(-1).tolist()
    for name, dtype in HOST.items():
        want = [rounded_long(v, e, FLOATS[name]) for v, e in values.reshape(-1)]
        assert bits_of(tiles.times(vectors, dtype)) == want


def test_a_last_bit_decides_and_is_rounded_once() -> None:
    # 1 + 2**-11 lies half-way between two fp16 numbers; what the second column adds decides.
    weights = np.zeros((1, 2, 5, 5), np.int16)
    weights[0, 0, 0] = (1 << 14, 1 << 14, 1 << 14, 1 << 14, 1 << 5)
    weights[0, 1, 0, 0] = 1
    tiles = Tiles(Quantised(weights, np.zeros((1, 2, 5), np.int8)), *bfp(16, 16))
    codes = np.array([[[1 << 14] * 5, [1, 0, 0, 0, 0]]], np.int16)
    for exponent, value, bits in ((-10, 2**40 + 2**29 + 1, 0x3C01), (-11, 2**40 + 2**29, 0x3C00)):
        vectors = Quantised(codes, np.array([[0, exponent]], np.int8))
        assert joined(tiles.long(vectors))[0] == (value, 0)
        assert bits_of(tiles.times(vectors, np.float16))[0] == bits


def test_bfp_long_is_rounded_once() -> None:
    """BFP long is rounded once, half to even, to a host number (seed 003 ¶46)."""

    def out(value: int, exponent: int, dtype: type) -> int:
        whole, fraction = divmod(value, 2**40)
        long = Long(*(np.array([x]) for x in (whole, fraction, exponent)))
        return bits_of(round_long(long, dtype))[0]

    one = 2**40
    assert out(one + 2**29 + 1, 0, np.float16) == 0x3C01  # by way of binary64 and 32: 0x3C00
    assert out(one + 2**29, 0, np.float16) == 0x3C00
    assert out(one + 3 * 2**29, 0, np.float16) == 0x3C02
    assert out(one + 2**29 - 1, 0, np.float16) == 0x3C00
    assert out(-one - 2**29 - 1, 0, np.float16) == 0xBC01
    assert out(one + 2**16 + 1, 0, np.float32) == 0x3F800001
    assert out(one + 2**16, 0, np.float32) == 0x3F800000
    # Of 74 bits the last one decides; binary64 has lost it.
    assert out(2**72 + 2**61 + 1, -30, np.float16) == 0x4401
    assert out(2**72 + 2**61, -30, np.float16) == 0x4400
    assert out(2**72 + 2**48 + 1, 0, np.float32) == 0x4F800001
    assert out(0, 5, np.float16) == 0
    assert out(-1, 0, np.float16) == 0x8000
    assert out(2**15 + 1, 0, np.float16) == 1  # more than half of the least number
    assert out(2**15, 0, np.float16) == 0
    assert out(65519 * 2**40 + 2**40 - 1, 0, np.float16) == 0x7BFF
    assert out(65520 * 2**40, 0, np.float16) == 0x7C00
    assert out(-(2**73), 32, np.float16) == 0xFC00


@settings(max_examples=400)
@example(-(2**73), 32)
@example(2**73 - 1, 32)
@given(
    st.one_of(st.integers(-(2**73), 2**73 - 1), st.integers(-(2**40), 2**40),
              st.builds(lambda a, b, c: (2 * a + 1 << b) + c, st.integers(-(2**12), 2**12),
                        st.integers(0, 60), st.integers(-1, 1)),
              st.builds(lambda a, b, c: (2 * a + 1 << b) + c, st.integers(-(2**25), 2**25),
                        st.integers(0, 46), st.integers(-1, 1))),
    st.integers(-30, 40),
)  # fmt: skip
def test_any_bfp_long_is_rounded_once(value: int, exponent: int) -> None:
    """Any BFP long is rounded as the exact fraction is (seed 003 ¶46)."""
    whole, fraction = divmod(value, 2**40)
    long = Long(*(np.array([x]) for x in (whole, fraction, exponent)))
    assert round_scaled(np.array([2**61 + 5]), np.array([-150]), np.float16).tolist() == [0]
    for host, dtype in ((HALF, np.float16), (SINGLE, np.float32)):
        want = rounded_long(value, exponent, host)
        assert bits_of(round_long(long, dtype)) == [want]
        if abs(value) < 2**62:
            short = round_scaled(np.array([value]), np.array([exponent - 40]), dtype)
            assert bits_of(short) == [want]


@given(st.integers(-(2**73), 2**73 - 1), st.integers(-(2**73), 2**73 - 1),
       st.integers(-30, 32), st.integers(-30, 32))  # fmt: skip
def test_alignment_and_sum_in_two_limbs(a: int, b: int, ea: int, eb: int) -> None:
    def long(value: int, exponent: int) -> Long:
        whole, fraction = divmod(value, 2**40)
        return Long(*(np.array([x]) for x in (whole, fraction, exponent)))

    larger = max(ea, eb)
    total = (a >> (larger - ea)) + (b >> (larger - eb))
    assert joined(long(a, ea).plus(long(b, eb))) == [(total, larger)]
    assert joined(long(a, ea).shift_right(np.array([larger - ea]))) == [
        (a >> (larger - ea), larger)
    ]


@given(st.integers(-(2**62), 2**62), st.integers(0, 40))
def test_a_number_and_places_in_two_limbs(value: int, places: int) -> None:
    found = Long.from_scaled(np.array([value]), places, np.array([3]))
    assert joined(found) == [(value << places, 3)]
    assert joined(Long.of(np.array([value]), np.array([3]))) == [(value, 3)]


def test_an_accumulator_that_leaves_its_range_is_named() -> None:
    quantiser = Quantiser("float", exponent_bits=5, mantissa_bits=10)
    top = most(quantiser)
    codes = np.zeros((2, 3, 2, 2), np.int16)
    codes[1, 2, 1, 0] = top
    tiles = Tiles(Quantised(codes, np.zeros((2, 3, 2), np.int8)), quantiser, quantiser)
    x = np.zeros((4, 3, 2), np.int16)
    x[3, 2, 0] = -top
    vectors = Quantised(x, np.zeros((4, 3), np.int8))
    text = "element 1 of row 1 leaves the accumulator's 74 bits at column 2 of iteration 3"
    with pytest.raises(OutOfRange, match=text) as caught:
        tiles.times(vectors, np.float32)
    assert (caught.value.index, caught.value.column) == ((3, 1, 1), 2)


@pytest.mark.parametrize("value", [-(2**73) - 1, -(2**73), 2**73 - 1, 2**73])
def test_the_ends_of_the_accumulator(value: int) -> None:
    """The accumulator holds -2**73 to 2**73 - 1; beyond is `OutOfRange` (seed 003 ¶46)."""
    whole, fraction = divmod(value, 2**40)
    long = Long(*(np.full((1, 1, 1), x) for x in (whole, fraction, 0)))
    if -(2**73) <= value < 2**73:
        long.check(0)
    else:
        with pytest.raises(OutOfRange):
            long.check(0)


def test_blocks_of_zeros_do_not_count_as_exponents_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    # A row and a vector that are filled up with zeros: their blocks have the smallest exponent.
    pair = bfp(16, 16)
    codes = np.full((1, 3, 2, 2), 1000, np.int16)
    codes[0, 2] = 0
    exponents = np.full((1, 3, 2), 5, np.int8)
    exponents[0, 2] = -15
    x = np.full((1, 3, 2), -3000, np.int16)
    x[0, 2] = 0
    vectors = Quantised(x, np.array([[6, 5, -15]], np.int8))
    tiles = Tiles(Quantised(codes, exponents), *pair)
    expected = bits_of(round_long(tiles.long(vectors), np.float32))
    monkeypatch.delattr(Tiles, "_accumulate_64")  # it would do, but slowly
    assert bits_of(tiles.times(vectors, np.float32)) == expected


def test_later_changes_do_not_show() -> None:
    for pair in (bfp(8, 8), logs(6, 6)):
        codes = np.ones((1, 1, 2, 2), np.int16)
        tiles = Tiles(Quantised(codes, np.zeros((1, 1, 2), np.int8)), *pair)
        vectors = Quantised(np.ones((1, 1, 2), np.int16), np.zeros((1, 1), np.int8))
        before = bits_of(tiles.times(vectors, np.float32))
        codes[:] = 3
        assert bits_of(tiles.times(vectors, np.float32)) == before
        assert tiles.nbytes == (16 if pair[0].kind == "bfp" else 64)


def test_many_vectors_are_worked_on_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(3)
    pair = bfp(9, 7)
    matrix = random_blocks(random, (2, 2, 4, 4), pair[0], 3, False)
    vectors = random_blocks(random, (11, 2, 4), pair[1], 3, False)
    whole = Tiles(matrix, *pair).times(vectors, np.float16)
    monkeypatch.setattr("macaw.emu.nnp.products._BATCH", 24)
    assert bits_of(Tiles(matrix, *pair).times(vectors, np.float16)) == bits_of(whole)
    none = Quantised(vectors.codes[:0], vectors.exponents[:0])
    assert Tiles(matrix, *pair).times(none, np.float16).shape == (0, 2, 4)


def test_tiles_too_large_for_two_halves_are_refused() -> None:
    quantiser = Quantiser("float", exponent_bits=5, mantissa_bits=10)
    huge = np.zeros((1, 1, 1 << 14, 1), np.int16)  # one element of each row is enough
    exponents = np.zeros((1, 1, 1 << 14), np.int8)
    with pytest.raises(ValueError, match=r"N = 16384 is too large for 80 bits a product"):
        Tiles(Quantised(huge, exponents), quantiser, quantiser)


@pytest.mark.parametrize(
    ("pair", "native", "cols", "column_type"),
    [
        (bfp(8, 8), 1024, 1, np.float32),  # a dot product of just 2**24
        (bfp(8, 8), 64, 16, np.float32),  # a sum of just 2**24
        (bfp(8, 8), 64, 17, np.float32),
        (bfp(9, 8), 1024, 1, np.float64),
        (bfp(16, 16), 64, 130, np.float64),
        (logs(6, 5), 64, 4, np.float64),
    ],
)
def test_ends_of_the_range_of_a_type(pair: Pair, native: int, cols: int, column_type: type) -> None:
    # All codes are as large as they can be; one odd product is what a sum would lose first.
    random = np.random.default_rng(8)
    low = -most(pair[0]) - (pair[0].kind == "bfp"), -most(pair[1]) - (pair[1].kind == "bfp")
    codes = np.full((1, cols, native, native), low[0], np.int16)
    codes[0, cols - 1, :, native - 1] = random.integers(-3, 4, native)
    x = np.full((2, cols, native), low[1], np.int16)
    x[1, 0, 0] = 1
    tiles = Tiles(Quantised(codes, np.zeros((1, cols, native), np.int8)), *pair)
    assert tiles._type == column_type
    vectors = Quantised(x, np.zeros((2, cols), np.int8))
    some = slice(0, 16)  # rows
    whole = integers(codes[:, :, some], pair[0]).astype(np.int64).transpose(0, 2, 1, 3)
    flat = whole.reshape(-1, cols * native)
    exact = (integers(x, pair[1]).astype(np.int64).reshape(2, -1) @ flat.T).reshape(-1).tolist()
    unit = pair[0].unit + pair[1].unit
    sums = np.ldexp(tiles._sums(vectors, False)[:, some].astype(np.float64), -unit)
    assert sums.reshape(-1).tolist() == exact
    found = tiles.times(vectors, np.float32)[:, 0, some]
    assert bits_of(found.copy()) == [rounded_long(v, unit + 40, SINGLE) for v in exact]


@pytest.mark.parametrize("weight", [16, 17])
def test_sums_in_binary32_are_chosen_by_the_numbers(
    weight: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sums are computed in binary32 if they cannot exceed 2**24; with weights of 17 they can.

    The exponents of the last block are greater by one. A sum that was rounded would lose the one
    odd product.
    """
    pair, native, cols = bfp(8, 8), 64, 2**7
    codes = np.full((1, cols, native, native), weight, np.int16)
    codes[0, 0, :, 0] -= 1
    exponents = np.zeros((1, cols, native), np.int8)
    exponents[0, -1] = 1
    x = np.full((1, cols, native), 127, np.int16)
    chosen: list[bool] = []
    sums = Tiles._sums

    def spied(self: Tiles, vectors: Quantised, is_single: bool) -> object:
        chosen.append(is_single)
        return sums(self, vectors, is_single)

    monkeypatch.setattr(Tiles, "_sums", spied)
    tiles = Tiles(Quantised(codes, exponents), *pair)
    found = tiles.times(Quantised(x, np.zeros((1, cols), np.int8)), np.float32)
    whole = (weight * native * (cols + 1) - 1) * 127
    assert chosen == [whole <= 2**24]
    unit = pair[0].unit + pair[1].unit
    assert bits_of(found[0, 0].copy()) == [rounded_long(whole, unit + 40, SINGLE)] * native
