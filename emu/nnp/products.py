"""Products of native tiles and vectors: exact integers, accumulated in BFP long, rounded once.

docs/numbers-nnp.md, "Products", has the rules. If a bound shows that no sum needs more than 24 or
53 binary digits, the module uses NumPy's matrix multiplication (BLAS) in binary32 or binary64. Then
neither the order of additions nor the alignment of BFP long changes the result, and a product of
dequantised numbers is exact. Otherwise the module accumulates integers, one column of tiles after
another.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu.floats import Host, to_host
from macaw.emu.nnp.longs import FRACTION, Long, round_long, round_scaled, shift_right
from macaw.emu.nnp.quantisers import Quantised, Quantiser, integers, power_of_two, values

# all integers up to these are exact in binary32 and in binary64
_SINGLE, _DOUBLE = 1 << 24, 1 << 53
_FARTHEST = 64  # a block whose exponent is greater by this needs too many digits
_BATCH = 1 << 22  # the greatest number of elements of results in a batch

Reals = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


def _sizes(codes: NDArray[np.int16], quantiser: Quantiser) -> Ints:
    """Return the greatest magnitude of the integers m that the codes of each block represent.

    Blocks lie along the last axis; `quantiser` defines the integers.
    """
    # as an int16, the magnitude of -2**15 has the bits of 2**15
    greatest = np.abs(codes).view(np.uint16).max(axis=-1, initial=0)
    return integers(greatest.astype(np.int64), quantiser).astype(np.int64)


def _relative(exponents: NDArray[np.int8], sizes: Ints) -> Ints:
    """Return the exponent of each block minus the least exponent of the blocks in the same sum.

    The products of blocks along the second axis are added to one sum. Blocks with the size 0 (only
    zeros) do not count for the least exponent, so their results may be negative.
    """
    wide = exponents.astype(np.int64)
    least = np.where(sizes > 0, wide, wide.max(initial=-128)).min(axis=1)
    return np.asarray(wide - least[:, None])


def _in_units(sizes: Ints, relative: Ints) -> NDArray[np.float64]:
    """Return `sizes` · 2**`relative`: sizes of blocks, on one scale for all blocks of a sum.

    In `sizes` the exponents of the blocks are left out (`_sizes`). `relative` has these exponents,
    minus the least exponent of the blocks in the same sum (`_relative`).
    """
    # Sizes are only compared with numbers of 24 digits, so greater powers have no effect.
    return np.asarray(
        np.ldexp(sizes.astype(np.float64), np.clip(relative, 0, _FARTHEST).astype(np.int32))
    )


class Tiles:
    """A matrix of rows × cols native tiles, prepared for products with vectors.

    `quantised` has codes (rows, cols, N, N) and exponents (rows, cols, N) of the quantiser
    `matrix`; `vector` is the quantiser of the vectors. In the kind mx a native vector may have
    several blocks, and the exponents have shape (rows, cols, N, blocks); the attribute `cols` is
    then the number of columns of blocks. The tiles are copied: later changes of `quantised` have no
    effect.
    """

    def __init__(self, quantised: Quantised, matrix: Quantiser, vector: Quantiser) -> None:
        self.rows, cols, self.native, _ = quantised.codes.shape
        self._blocks = matrix.blocks(self.native)
        self.cols = cols * self._blocks
        self._width = self.native // self._blocks  # elements of a block
        if self._blocks > 1:
            codes = matrix.by_block(quantised.codes).transpose(0, 1, 3, 2, 4)
            codes = codes.reshape(self.rows, self.cols, self.native, self._width)
            exponents = quantised.exponents.transpose(0, 1, 3, 2)
            quantised = Quantised(codes, exponents.reshape(self.rows, self.cols, self.native))
        self._matrix, self._vector = matrix, vector
        self._shared = matrix.shares_exponents
        self._digits = matrix.size + vector.size
        dot = self._width << self._digits  # an upper bound of a dot product of one block
        # The scales of mx are too great and too small for binary32.
        is_small = dot <= _SINGLE and matrix.kind != "mx"
        self._type: DTypeLike = np.float32 if is_small else np.float64
        self._wide = dot > _DOUBLE
        # V of a block is its dot product times 2**places; _offset is the rest of its exponent.
        self._places = accumulator_places(matrix, vector)
        self._offset = FRACTION + matrix.unit + vector.unit - self._places
        relative = _relative(quantised.exponents, _sizes(quantised.codes, matrix))
        self._spread = int(relative.max(initial=0))
        self._row_sum = self._greatest_row_sum(quantised.codes, relative) if is_small else np.inf
        exponents = quantised.exponents.transpose(1, 0, 2).reshape(self.cols, -1)
        self._exponents = exponents.astype(np.int64)
        self._parts = self._split(quantised) if self._wide else [self._dequantise(quantised)]

    @property
    def nbytes(self) -> int:
        """The number of bytes of the prepared tiles."""
        return sum(part.nbytes for part in self._parts)

    def times(self, vectors: Quantised, dtype: DTypeLike) -> Host:
        """Multiply the tiles by `vectors`, which have shape (iterations, cols, N).

        The result has host values of type `dtype` and shape (iterations, rows, N). Raises
        `OutOfRange` if an accumulator overflows.
        """
        vectors = self._split_vectors(vectors)
        step = max(1, _BATCH // (self.rows * self.native))
        parts = []
        for first in range(0, max(1, len(vectors.codes)), step):
            some = slice(first, first + step)
            parts.append(
                self._multiply(Quantised(vectors.codes[some], vectors.exponents[some]), dtype)
            )
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def long(self, vectors: Quantised) -> Long:
        """Return the accumulators of the product with `vectors`, of shape (iterations, rows, N).

        `times` returns the same numbers, rounded to the host type. Raises `OutOfRange` if an
        accumulator overflows.
        """
        return self._long(self._split_vectors(vectors))

    def _split_vectors(self, vectors: Quantised) -> Quantised:
        """Return `vectors`, of shape (iterations, cols, N), divided into blocks.

        The second axis of the result counts blocks, not native vectors, if a vector has several
        blocks.
        """
        if self._blocks == 1:
            return vectors
        shape = len(vectors.codes), self.cols
        codes = vectors.codes.reshape(*shape, self._width)
        return Quantised(codes, vectors.exponents.reshape(shape))

    def _long(self, vectors: Quantised) -> Long:
        total = self._column_long(vectors, 0)
        total.check(0)
        for column in range(1, self.cols):
            total = total.plus(self._column_long(vectors, column))
            total.check(column // self._blocks)
        return total

    def _multiply(self, vectors: Quantised, dtype: DTypeLike) -> Host:
        sizes = _sizes(vectors.codes, self._vector)
        relative = _relative(vectors.exponents, sizes)
        spread = self._spread + int(relative.max(initial=0))
        is_lossless = not self._shared or spread <= self._places
        if is_lossless and (self.cols * self._width << self._digits + spread) <= _DOUBLE:
            greatest = float(_in_units(sizes, relative).max(initial=0))
            is_single = self._row_sum * greatest <= _SINGLE
            return self._by_row(to_host(self._sums(vectors, is_single), dtype))
        # Each column adds at most this to an accumulator, and each alignment one.
        most = self._width << self._digits + self._places
        if self._shared and not self._wide and self.cols * (most + 1) < 1 << 62:
            value, exponent = self._accumulate_64(vectors)
            return self._by_row(round_scaled(value, exponent - FRACTION, dtype))
        return round_long(self._long(vectors), dtype)

    def _greatest_row_sum(self, codes: NDArray[np.int16], relative: Ints) -> float:
        """Return the greatest sum of magnitudes along a row of the matrix, over all rows.

        `codes` are the codes of the matrix by block, `relative` the relative exponents of the
        blocks (`_relative`). A row's sum is divided by 2**(least exponent of the row's blocks).
        """
        sums = np.abs(integers(codes, self._matrix).astype(np.int32)).sum(axis=-1, dtype=np.int64)
        return float(_in_units(sums, relative).sum(axis=1).max(initial=0))

    def _sums(self, vectors: Quantised, is_single: bool) -> Reals:
        """Return the exact products with `vectors` as floats of shape (iterations, rows · N).

        The caller ensures that no sum needs more than 53 binary digits, or 24 if `is_single`.
        """
        weights = self._parts[0]
        x = values(vectors, self._vector, self._type).reshape(-1, self.cols * self._width)
        if self._type == np.float64 or is_single:
            total: Reals = x @ weights.T
        else:
            total = np.zeros((len(x), len(weights)))
            for column in range(self.cols):
                part = self._of_column(column)
                total += x[:, part] @ weights[:, part].T
        total += 0.0  # converts -0 to +0
        return total

    def _accumulate_64(self, vectors: Quantised) -> tuple[Ints, Ints]:
        """Return the accumulators of the product with `vectors`, in BFP long.

        The results are the integers V, which must fit in 64 bits, and the exponents, both of shape
        (iterations, rows · N). The value of an accumulator is V · 2**(exponent - 40).
        """
        total, exponent = self._column_64(vectors, 0)
        for column in range(1, self.cols):
            value, other = self._column_64(vectors, column)
            larger = np.maximum(exponent, other)
            total = shift_right(total, larger - exponent) + shift_right(value, larger - other)
            exponent = larger
        return total, exponent

    def _column_64(self, vectors: Quantised, column: int) -> tuple[Ints, Ints]:
        """Return the dot products of `vectors` with column `column` of the tiles, in BFP long.

        The results are the integers V and the exponents, both of shape (iterations, rows · N). The
        value of a product is V · 2**(exponent - 40).
        """
        part = self._of_column(column)
        of_column = Quantised(vectors.codes[:, column], vectors.exponents[:, column])
        exact = values(of_column, self._vector, self._type) @ self._parts[0][:, part].T
        exponent = self._exponent(of_column, column)
        scaled = np.ldexp(exact.astype(np.float64), (FRACTION - exponent).astype(np.int32))
        return scaled.astype(np.int64), exponent

    def _column_long(self, vectors: Quantised, column: int) -> Long:
        """Return the dot products of `vectors` with column `column` of the tiles, in BFP long.

        The result has shape (iterations, rows, N).
        """
        if not self._wide:
            value, exponent = self._column_64(vectors, column)
            return Long.of(self._by_row(value), self._by_row(exponent))
        of_column = Quantised(vectors.codes[:, column], vectors.exponents[:, column])
        part = self._of_column(column)
        exponent = self._by_row(self._exponent(of_column, column))
        total: Long | None = None
        for y, low_y in _halves(integers(of_column.codes, self._vector), self._vector.size):
            for weights, low in zip(self._parts, _half_shifts(self._matrix.size), strict=True):
                dot = self._by_row((y @ weights[:, part].T).astype(np.int64))
                term = Long.from_scaled(dot, low + low_y + self._places, exponent)
                total = term if total is None else total.plus(term)
        assert total is not None
        return total

    def _exponent(self, of_column: Quantised, column: int) -> Ints:
        """Return the exponents, in BFP long, of the dot products with one column of tiles.

        They have shape (iterations, rows · N). `of_column` has the vectors' blocks that are
        multiplied by the tiles of column `column`.
        """
        count = len(of_column.codes)
        if not self._shared:
            return np.full((count, self.rows * self.native), self._offset, np.int64)
        shared = self._exponents[column] + of_column.exponents.astype(np.int64)[:, None]
        return np.asarray(shared + self._offset)

    def _of_column(self, column: int) -> slice:
        return slice(column * self._width, (column + 1) * self._width)

    def _by_row(self, flat: NDArray[Any]) -> NDArray[Any]:
        return flat.reshape(-1, self.rows, self.native)

    def _dequantise(self, quantised: Quantised) -> Reals:
        """Return the matrix `quantised`, dequantised, of shape (rows · N, cols · N)."""
        shape = self.rows, self.native, self.cols, self._width
        weights = np.empty(shape, self._type)
        units = quantised.exponents.astype(np.int32) + self._matrix.unit
        scale = power_of_two(units, self._type).transpose(0, 2, 1)[..., None]
        whole = integers(quantised.codes, self._matrix).transpose(0, 2, 1, 3)
        np.multiply(whole, scale, out=weights)
        return weights.reshape(self.rows * self.native, -1)

    def _split(self, quantised: Quantised) -> list[Reals]:
        """Return the high and low halves of the integers m that the codes of `quantised` represent.

        Both have shape (rows · N, cols · N).
        """
        places = _half_shifts(self._matrix.size)[0] + _half_shifts(self._vector.size)[0]
        if self._width << places > _DOUBLE:
            raise ValueError(f"N = {self.native} is too large for {self._digits} bits a product")
        whole = integers(quantised.codes, self._matrix).transpose(0, 2, 1, 3)
        flat = whole.reshape(self.rows * self.native, -1)
        return [half for half, _ in _halves(flat, self._matrix.size)]


def accumulator_places(matrix: Quantiser, vector: Quantiser) -> int:
    """Return the shift P of dot products: a dot product S adds V = S · 2**P to an accumulator.

    `matrix` and `vector` are the quantisers of the two factors. If the elements of a block share an
    exponent, P moves the binary point of the products to the binary point of q34.40. Otherwise, and
    if the products have 40 fraction bits or more, P is 0.
    """
    if not matrix.shares_exponents:
        return 0
    return max(0, FRACTION - matrix.fraction - vector.fraction)


def _half_shifts(size: int) -> tuple[int, int]:
    """Return by how many bits each half of an integer of `size` bits is shifted left in it.

    The first number is for the high half, the second (0) for the low half.
    """
    return (size + 1) // 2, 0


def _halves(whole: NDArray[Any], size: int) -> list[tuple[NDArray[np.float64], int]]:
    """Return the high and the low half of the integers `whole`, which have `size` bits.

    Each half comes with its left shift in bits; the sum of both shifted halves is the integer.
    """
    shift, _ = _half_shifts(size)
    high = whole >> shift
    low = whole & ((1 << shift) - 1)
    return [(high.astype(np.float64), shift), (low.astype(np.float64), 0)]
