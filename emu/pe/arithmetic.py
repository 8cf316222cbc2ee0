"""The arithmetic of a PE: multiplication, addition, special functions, conversion for stores.

Boxes of seed 000, Fig. 5: multiplier 5066, adder 5061, special-function unit 510.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import (
    fits,
    fixed_point,
    float_sum_overflows,
    round_half_even_shift,
    saturate,
    saturate_float,
    saturated_sum,
    sigmoid,
    sum_overflows,
)
from macaw.isa.pe import ACTIVATIONS, DTYPES

Values = NDArray[Any]
Bools = NDArray[np.bool_]


class Adder:
    """The multiplier and the adder of a PE, for sums of type `sum_type`.

    `overflow` is the setting `pe.overflow`, the treatment of results outside the type's range:
    `wrap`, `saturate` or `fault` (the methods return a mask of these results). Integer products are
    exact. If an integer sum is outside the range, `saturate` gives the least or the greatest
    number. Each floating-point product and sum is rounded to `sum_type`. If a result is too large,
    `wrap` gives the infinity of IEEE 754, and `saturate` the greatest finite number, both with the
    sign of the result.
    """

    def __init__(self, sum_type: str, overflow: str) -> None:
        self.dtype = np.dtype(sum_type)
        self.floating = self.dtype.kind == "f"
        self.overflow = overflow

    def product(self, left: Values, right: Values) -> tuple[Values, Bools | None]:
        """Return the products of `left` and `right` in the sum's type, and a mask of overflows.

        The mask has the products that overflow. It is None if all products are finite, or if
        `overflow` is not "fault".
        """
        if not self.floating:
            return np.multiply(left, right, dtype=self.dtype), None
        wide_left, wide_right = left.astype(self.dtype), right.astype(self.dtype)
        product: Values = wide_left * wide_right
        if self.overflow == "wrap" or np.isfinite(product).all():
            return product, None
        overflow = np.isinf(product) & np.isfinite(wide_left) & np.isfinite(wide_right)
        if self.overflow == "saturate":
            greatest = np.copysign(np.finfo(self.dtype).max, product)
            return np.where(overflow, greatest, product), None
        return product, overflow

    def total(self, left: Values, right: Values) -> tuple[Values, Bools | None]:
        """Return the sums of `left` and `right`, and a mask of the sums that overflow.

        The mask is None if no sum overflows, or if `overflow` is not "fault".
        """
        total: Values = left + right
        if self.overflow == "wrap":
            return total, None
        if self.floating:
            if np.isfinite(total).all():
                return total, None
            overflow = float_sum_overflows(left, right, total)
        else:
            overflow = sum_overflows(left, right, total)
        if not overflow.any():
            return total, None
        if self.overflow == "saturate":
            return saturated_sum(left, right), None
        return total, overflow


_CURVES: dict[str, Callable[[Values], Values]] = {"sigmoid": sigmoid, "tanh": np.tanh}


def relu(values: Values) -> Values:
    """Return the maximum of each number in `values` and 0; NaN stays NaN."""
    return np.asarray(np.maximum(values, values.dtype.type(0)))


def activated(values: Values, activation: int, shift: int, value_type: str) -> Values:
    """Apply an activation function, given by its index in isa.pe.ACTIVATIONS.

    The result has the array type of `values`. Functions in isa.pe.FIXED_POINT read integers as
    fixed-point numbers with `shift` fraction bits. Their results are fixed-point numbers with the
    bits of `value_type`: a sign, and fraction bits.
    """
    name = ACTIVATIONS[activation]
    if name == "none":
        return values
    if name == "relu":
        return relu(values)
    curve = _CURVES[name]
    if values.dtype.kind == "f":
        return np.asarray(curve(values.astype(np.float64))).astype(values.dtype)
    bits = np.dtype(value_type).itemsize * 8
    return fixed_point(curve, values, shift, bits).astype(values.dtype)


def requantise(values: Values, shift: int, value_type: str) -> Values:
    """Return `values` / 2**`shift` in the range and precision of `value_type`.

    The result has the array type of `values`. Integers are rounded half to even, then saturated.
    Floating values are scaled exactly, then rounded.
    """
    if values.dtype.kind == "f":
        scaled = np.ldexp(values.astype(np.float64), -shift)
        return saturate_float(scaled, value_type).astype(values.dtype)
    bits = np.dtype(value_type).itemsize * 8
    return saturate(round_half_even_shift(values, shift), bits).astype(values.dtype)


def rescale(values: Values, scales: Values, value_type: str) -> Values:
    """Return `values` times `scales` in the range and precision of `value_type`.

    `scales` are float32 and have the shape of `values`. The result has the array type of `values`.
    Values and products are rounded to float32, half to even. If `value_type` is an integer type,
    the products are then rounded to integers, half to even, and saturated.
    """
    with np.errstate(over="ignore"):
        products = values.astype(np.float32) * scales
    if values.dtype.kind == "f":
        return saturate_float(products, value_type).astype(values.dtype)
    ends = np.iinfo(value_type)
    return np.clip(np.rint(products), ends.min, ends.max).astype(values.dtype)


def looked_up(values: Values, table: Values) -> Values:
    """Return, for each integer in `values`, an entry of `table`, in the type of `values`.

    The integer is saturated to -128 to 127. Its byte in two's complement is the index of the entry:
    the integers 0 to 127 have the indices 0 to 127, and -128 to -1 have the indices 128 to 255.
    """
    return np.asarray(table[table_index(values)]).astype(values.dtype)


def table_index(values: Values) -> Values:
    """Return, for each integer in `values`, the index of its entry in a table, 0 to 255."""
    return np.asarray(saturate(values, 8).astype(np.int8).view(np.uint8))


def memory_type(element: str) -> np.dtype[Any]:
    """Return the little-endian NumPy type in which memory stores an `element` of the array."""
    return np.dtype(DTYPES[element]).newbyteorder("<")


def in_memory(values: Values, element: str) -> tuple[Values, Bools]:
    """Convert results to the little-endian type in which memory stores an `element`.

    Return the converted values, and a mask of the values that do not fit this type.
    """
    dtype = memory_type(element)
    if values.dtype.kind == "f":
        with np.errstate(over="ignore"):
            narrow = values.astype(dtype)
        return narrow, np.isinf(narrow) & np.isfinite(values)
    overflow = ~fits(values, dtype.itemsize * 8)
    return np.where(overflow, 0, values).astype(dtype), overflow
