"""Replaces binary32 scales by integer multipliers and a shift, where that gives the same results.

Integer arithmetic takes fewer instructions than binary32. It is used only if its results are proved
to be equal: for int8 by computing the results of all inputs, for int16 because every step is exact.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import round_half_even_shift
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.net.vector.operations import ElementwiseProduct, Rescale, Sum
from macaw.lowering.net.vector.reference import compute

_SHIFTS = {16: range(14, -1, -1), 32: range(30, -1, -1)}  # by number of bits of a lane
_TRIES = 5  # number of shifts that are tried for each number of bits, the largest first
_EXACT = 1 << 24  # integers below this are exact in binary32


@dataclass(frozen=True)
class FixedPoint:
    """Multipliers of the inputs, and the right shift of the sum of the products.

    The shift rounds half to even. All values before the shift fit into signed lanes of `bits` bits.
    """

    multipliers: tuple[int, ...]
    shift: int
    bits: int


Scaled = Sum | Rescale | ElementwiseProduct


@cache
def fixed_point(operation: Scaled) -> FixedPoint | None:
    """Return the fixed-point form of an operation, or None if no form is proved to be equal.

    The form of a product has one multiplier, for a * b.
    """
    given = operation.scales if isinstance(operation, Sum) else (operation.scale,)
    scales = tuple(float(np.float32(scale)) for scale in given)
    exact = _exact(operation, scales)
    if exact or operation.dtype != "int8":
        return exact
    return next((form for form in _candidates(operation, scales) if _equal(operation, form)), None)


def _greatest(operation: Scaled) -> int:
    """Return the greatest magnitude of a number that is multiplied by a scale."""
    least = -operation.limits[0]
    return least * least if isinstance(operation, ElementwiseProduct) else least


def _exact(operation: Scaled, scales: tuple[float, ...]) -> FixedPoint | None:
    """Return the form whose multipliers are the scales times a power of two, 2 ** shift.

    Return None if there is none, or if a step of binary32 might round.
    """
    greatest = _greatest(operation)
    for bits in (16, 32):
        for shift in range(bits):
            numbers = [scale * 2.0**shift for scale in scales]
            if all(number == int(number) for number in numbers):
                multipliers = tuple(int(number) for number in numbers)
                largest = greatest * sum(map(abs, multipliers))
                fits = largest < 1 << (bits - 1) and max(map(abs, multipliers)) < 1 << (bits - 1)
                if fits and largest <= _EXACT and (operation.dtype == "int8" or bits == 32):
                    return FixedPoint(multipliers, shift, bits)
                break
    return None


def _candidates(operation: Scaled, scales: tuple[float, ...]) -> Iterator[FixedPoint]:
    greatest = _greatest(operation)
    for bits in (16, 32):
        tries = 0
        for shift in _SHIFTS[bits]:
            nearest = [round(scale * 2.0**shift) for scale in scales]
            if greatest * sum(abs(number) + 1 for number in nearest) >= 1 << (bits - 1):
                continue
            for offsets in itertools.product((0, 1, -1), repeat=len(scales)):
                pairs = zip(nearest, offsets, strict=True)
                yield FixedPoint(tuple(number + offset for number, offset in pairs), shift, bits)
            tries += 1
            if tries == _TRIES:
                break


def _equal(operation: Scaled, form: FixedPoint) -> bool:
    """Return whether a form gives an int8 operation's results for all inputs."""
    values = np.arange(-128, 128, dtype=np.int16).astype(np.int8)
    return _agrees(operation, form, values[::13]) and _agrees(operation, form, values)


def _agrees(operation: Scaled, form: FixedPoint, values: NDArray[np.int8]) -> bool:
    """Return whether a form gives the operation's results for all pairs of inputs in `values`."""
    wide = values.astype(np.int64)
    if isinstance(operation, Rescale):
        sums = wide * form.multipliers[0]
        expected = compute(operation, values)
    else:
        a, b = wide[:, None], wide[None, :]
        first, *second = form.multipliers
        sums = a * first + b * second[0] if second else a * b * first
        expected = compute(operation, values[:, None], values[None, :])
    clip = None if isinstance(operation, ElementwiseProduct) else operation.clip
    rounded = round_half_even_shift(sums, form.shift)
    return bool(np.array_equal(np.clip(rounded, *(clip or operation.limits)), expected))
