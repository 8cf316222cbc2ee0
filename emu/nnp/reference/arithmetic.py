"""The arithmetic of the reference engine, with Python's integers and fractions.

It computes one element at a time.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from macaw.emu.nnp.arithmetic import Host, NumberFormats
from macaw.emu.nnp.longs import OutOfRange
from macaw.emu.nnp.quantisers import NotANumber, Quantised, Quantiser
from macaw.emu.nnp.reference import exact
from macaw.emu.nnp.reference.exact import FORMATS, NAN, Number, finite, integer_of

_FRACTION = 40  # fraction bits of BFP long
_LIMIT = 1 << 73  # bits of an accumulator's integer V


class ReferenceArithmetic(NumberFormats):
    """The reference implementation of `macaw.emu.nnp.arithmetic.Arithmetic`."""

    # Between arrays and numbers

    def _numbers(self, values: Host) -> list[Number]:
        return [FORMATS[self.dtype].read(bits) for bits in self._bits(values)]

    def _bits(self, values: Host) -> list[int]:
        """Return the bits of each value, in the order of the flat array."""
        bits = np.ascontiguousarray(values).view(f"u{self.dtype.itemsize}")
        return bits.ravel().tolist()

    def _array(self, numbers: list[Number], shape: tuple[int, ...]) -> Host:
        form = FORMATS[self.dtype]
        bits = np.array([form.write(item) for item in numbers], f"u{self.dtype.itemsize}")
        values: Host = bits.view(self.dtype).reshape(shape)
        return values

    # The quantisers

    def quantise(self, values: Host, quantiser: Quantiser) -> Quantised:
        """Quantise host values with the vector or the matrix quantiser. Raises `NotANumber`."""
        native = values.shape[-1]
        blocks = quantiser.blocks(native)
        size = native // blocks
        numbers: list[Number] = []
        for place, bits in enumerate(self._bits(values)):
            numbers.append(FORMATS[self.dtype].read(bits))
            if numbers[-1].kind == "nan":
                raise NotANumber(tuple(int(x) for x in np.unravel_index(place, values.shape)))
        codes, exponents = [], []
        for start in range(0, len(numbers), size):
            block, exponent = exact.quantise_block(numbers[start : start + size], quantiser)
            codes += block
            exponents.append(exponent)
        return Quantised(
            np.array(codes, np.int16).reshape(values.shape),
            np.array(exponents, np.int8).reshape(
                *values.shape[:-1], *((blocks,) if blocks > 1 else ())
            ),
        )

    def to_host(self, quantised: Quantised, quantiser: Quantiser) -> Host:
        """Convert quantised numbers of `quantiser` to host values, each rounded once."""
        exponents = np.broadcast_to(quantised.by_element, quantised.codes.shape)
        shared = quantiser.shares_exponents
        numbers = [
            finite(
                integer_of(code, quantiser) * Fraction(2) ** (quantiser.unit + (e if shared else 0))
            )
            for code, e in zip(
                quantised.codes.ravel().tolist(), exponents.ravel().tolist(), strict=True
            )
        ]
        return self._array(numbers, quantised.codes.shape)

    # Products

    def product(self, first: int, rows: int, cols: int, vectors: Quantised) -> Host:
        """Multiply `rows` x `cols` tiles of MatrixRf, from entry `first` on, by `vectors`.

        `Arithmetic.product` explains shapes and errors.
        """
        count, _, native = vectors.codes.shape
        places = [(i, row, x) for i in range(count) for row in range(rows) for x in range(native)]
        totals = [(0, 0)] * len(places)  # V and its exponent
        blocks = self.vector.blocks(native)
        size = native // blocks
        scales = vectors.exponents.reshape(count, cols, blocks)
        for column, block in itertools.product(range(cols), range(blocks)):
            part = slice(block * size, (block + 1) * size)
            for place, (i, row, element) in enumerate(places):
                x = vectors.codes[i, column, part].tolist(), int(scales[i, column, block])
                tile = first + row * cols + column
                term = self._dot(tile, element, block, *x)
                total = term if column == block == 0 else self._plus(totals[place], term)
                if not -_LIMIT <= total[0] < _LIMIT:
                    raise OutOfRange((i, row, element), column)
                totals[place] = total
        values = [finite(v * Fraction(2) ** (e - _FRACTION)) for v, e in totals]
        return self._array(values, (count, rows, native))

    def _dot(
        self, tile: int, element: int, block: int, x: list[int], exponent: int
    ) -> tuple[int, int]:
        """Return the product of a block of row `element` of a tile with the codes `x` of a vector.

        The result is (V, exponent), as in BFP long: its value is V · 2**(exponent - 40). The
        argument `exponent` is the exponent of the vector's block.
        """
        part = slice(block * len(x), (block + 1) * len(x))
        dot = sum(
            integer_of(w, self.matrix) * integer_of(v, self.vector)
            for w, v in zip(self.state.tile_codes[tile, element, part].tolist(), x, strict=True)
        )
        unit = self.vector.unit + self.matrix.unit
        if not self.vector.shares_exponents:
            return dot, _FRACTION + unit
        stored = self.state.tile_exponents[tile, element].reshape(-1)[block]
        shared = int(stored) - int(self.matrix.bias) + exponent
        places = max(0, _FRACTION - self.vector.fraction - self.matrix.fraction)
        return dot << places, shared + _FRACTION + unit - places

    def _plus(self, total: tuple[int, int], term: tuple[int, int]) -> tuple[int, int]:
        """Return `total`, the sum in an accumulator, plus the term of the next block.

        Both are pairs (V, exponent) of BFP long, and are aligned to the larger exponent.
        """
        larger = max(total[1], term[1])
        return (total[0] >> larger - total[1]) + (term[0] >> larger - term[1]), larger

    # The multi-function units

    def function(self, name: str, *operands: Host) -> Host:
        """Return the result of an instruction of a multi-function unit (MFU).

        `name` is the name of its function, such as `v_sigm`; `operands` are its operands.
        """
        values = zip(*map(self._numbers, operands), strict=True)
        return self._array([exact.function(name, *item) for item in values], operands[0].shape)

    def softmax(self, values: Host, valid: int) -> Host:
        """Return the softmax over the first `valid` elements of the last axis; others become 0."""
        length = values.shape[-1]
        numbers = self._numbers(values)
        results: list[Number] = []
        for start in range(0, len(numbers), length):
            results += self._softmax(numbers[start : start + min(valid, length)])
            results += [finite(Fraction(0))] * (length - min(valid, length))
        return self._array(results, values.shape)

    def _softmax(self, numbers: list[Number]) -> list[Number]:
        top = numbers[0]
        for number in numbers:
            top = exact.maximum(top, number)
        form = FORMATS[self.dtype]
        negative = exact.opposite(top)
        differences = [form.read(form.write(exact.add(x, negative))) for x in numbers]
        if any(number.kind == "nan" for number in (top, *differences)):
            return [NAN] * len(numbers)
        parts = [self._exponential(number) for number in differences]
        return [finite(part / sum(parts)) for part in parts]

    def _exponential(self, number: Number) -> Fraction:
        """Return e**number, rounded to the host format or to 2**-40, whichever is coarser."""
        if number.kind == "inf" or number.value < -1000:
            return Fraction(0)
        form = FORMATS[self.dtype]
        power = exact.exp(number.value)
        last = max(exact.exponent_of(power) - form.fraction, 1 - form.bias - form.fraction)
        step = max(Fraction(2) ** last, Fraction(1, 1 << _FRACTION))
        return round(power / step) * step

    def invalidate(self, first: int, count: int) -> None:
        """Do nothing: this engine caches nothing of MatrixRf."""

    def invalidate_all(self) -> None:
        """Do nothing: this engine caches nothing of MatrixRf."""
