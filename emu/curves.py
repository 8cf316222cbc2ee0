"""Sigmoid, tanh and softmax of host values, correctly rounded (docs/numbers-nnp.md).

Host values are fp16, fp32 or bf16 numbers. A function first computes in binary64. The relative
error of the result is less than 2**-48, even if the library functions have errors of 16 units in
the last place. If both ends of this error range round to the same host number, the function returns
that number. Otherwise it computes with decimals, and adds digits until both ends round to the same
number. This always ends, because no true result is a tie (e**x is transcendental for every rational
x but 0).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from macaw.emu.bfloat16 import BFLOAT16
from macaw.emu.floats import Host, one_nan, round_fraction, subtract, to_host, widened

if TYPE_CHECKING:
    from decimal import Decimal
    from fractions import Fraction

Doubles = NDArray[np.float64]

_MARGIN = 2.0**-48
_DIGITS = 60  # the number of digits of the first computation with decimals
_GRID = 40  # fraction bits of an exponential; BFP long has the same number


def sigmoid(values: Host) -> Host:
    """Return 1 / (1 + e**-x) of each element, correctly rounded; NaN stays NaN."""
    return _by_table("sigmoid", values) if _narrow(values) else _curve("sigmoid", values)


def tanh(values: Host) -> Host:
    """Return the hyperbolic tangent of each element, correctly rounded; zeros keep their sign."""
    return _by_table("tanh", values) if _narrow(values) else _curve("tanh", values)


def softmax(values: Host, valid: int) -> Host:
    """Return the softmax of the first `valid` elements along the last axis; others become +0.

    The result has the shape of `values`, which are fp16 or fp32. The differences to the largest
    element are rounded to host values. The exponentials are rounded once (to 2**-40 at the finest),
    their sum is exact, and the quotients are rounded once. If a difference is NaN, the first
    `valid` elements of its vector become NaN.
    """
    result = np.zeros_like(values)
    count = min(valid, values.shape[-1])
    if count == 0 or values.size == 0:
        return result
    chosen = values[..., :count]
    differences = subtract(chosen, np.max(chosen, axis=-1, keepdims=True))
    failed = np.isnan(differences).any(axis=-1)
    differences[failed] = 0
    parts = _exponentials(differences)
    total = parts.sum(axis=-1, keepdims=True)
    quotients = _quotients(parts, np.broadcast_to(total, parts.shape), values.dtype)
    quotients[failed] = np.nan
    result[..., :count] = quotients
    return result


def _narrow(values: Host) -> bool:
    """Return whether the type has only 65536 numbers, so that one table can have all results."""
    return values.dtype in (np.float16, BFLOAT16)


def _sigmoid64(x: Doubles) -> Doubles:
    with np.errstate(under="ignore"):
        small = np.exp(-np.abs(x))
        return np.asarray(np.where(x >= 0, 1.0, small) / (1.0 + small))


_FAST: dict[str, Callable[[Doubles], Doubles]] = {"sigmoid": _sigmoid64, "tanh": np.tanh}


def _exact_sigmoid(x: Decimal) -> Decimal:
    return 1 / (1 + (-x).exp())


def _exact_tanh(x: Decimal) -> Decimal:
    """Return tanh of `x` >= 0, computed with the digits of the decimal context.

    Each zero directly after the decimal point of `x` costs one correct digit of the result: 0.003
    costs two. Callers' numbers cost at most 8 digits.
    """
    double = (-2 * x).exp()
    return (1 - double) / (1 + double)


_EXACT: dict[str, Callable[[Decimal], Decimal]] = {
    "sigmoid": _exact_sigmoid,
    "tanh": _exact_tanh,
    "exp": lambda x: x.exp(),
}


def _decide(name: str, x: float, rounded: Callable[[Fraction], Any]) -> Any:
    """Return the true value of the curve `name` at `x`, rounded by `rounded`. `x` is not 0.

    The function adds digits until both ends of the error range round to the same number.
    """
    from decimal import Context, Decimal, localcontext
    from fractions import Fraction

    digits = _DIGITS
    while True:
        with localcontext(Context(prec=digits, Emin=-(10**6), Emax=10**6)):
            value = Fraction(_EXACT[name](Decimal(x)))
        error = value / 10 ** (digits // 2)
        low, high = rounded(value - error), rounded(value + error)
        if low == high:
            return low
        digits *= 2


def _curve(name: str, values: Host) -> Host:
    """Return the curve `name` at each element, correctly rounded.

    Elements for which binary64 is not precise enough are computed in decimals.
    """
    with np.errstate(invalid="ignore"):
        wide = widened(np.asarray(values)).astype(np.float64)
        exact = _FAST[name](wide)
    dtype = values.dtype
    result = to_host(exact * (1 - _MARGIN), dtype)
    unsure = result != to_host(exact * (1 + _MARGIN), dtype)
    unsure &= ~np.isnan(exact)
    for index in np.argwhere(unsure):
        place = tuple(index)
        x = float(wide[place])
        size = abs(x) if name == "tanh" else x
        found = _decide(name, size, lambda value: round_fraction(value, dtype))
        result[place] = to_host(np.copysign(found, x) if name == "tanh" else found, dtype)
    return one_nan(result)


@cache
def _table(name: str, dtype: np.dtype[Any]) -> Host:
    """Return the curve `name` at all 65536 numbers of a type, indexed by their bits."""
    table = _curve(name, np.arange(1 << 16, dtype=np.uint16).view(dtype))
    table.flags.writeable = False
    return table


def _by_table(name: str, values: Host) -> Host:
    return _table(name, values.dtype)[np.ascontiguousarray(values).view(np.uint16)]


def _on_grid(exact: Doubles, dtype: DTypeLike) -> NDArray[np.int64]:
    """Round the numbers `exact`, from 0 to 1, once; return them as integers in units of 2**-40.

    The rounding is to the host type `dtype` or to 2**-40, whichever is coarser.
    """
    scaled = np.ldexp(exact, _GRID)
    if np.dtype(dtype) == np.float16:
        return np.ldexp(to_host(exact, dtype).astype(np.float64), _GRID).astype(np.int64)
    # A binary32 number below 2**24 units is more precise than the grid.
    digits = np.where(scaled < 1 << 24, np.rint(scaled), scaled.astype(np.float32))
    return np.asarray(digits.astype(np.int64))


def _grid_of(value: Fraction, dtype: np.dtype[Any]) -> int:
    """Return a fraction from 0 to 1, rounded once, as an integer in units of 2**-40.

    The rounding is to the host type `dtype` or to 2**-40, whichever is coarser.
    """
    from fractions import Fraction

    scaled = value * (1 << _GRID)
    if dtype == np.float32 and scaled < 1 << 24:
        return round(scaled)
    return int(Fraction(float(round_fraction(value, dtype))) * (1 << _GRID))


def _exponentials64(differences: Host) -> NDArray[np.int64]:
    """Return e**d for differences d <= 0, as integers in units of 2**-40."""
    dtype = differences.dtype
    with np.errstate(under="ignore"):
        exact = np.exp(differences.astype(np.float64))
    result = _on_grid(exact * (1 - _MARGIN), dtype)
    for index in np.argwhere(result != _on_grid(exact * (1 + _MARGIN), dtype)):
        place = tuple(index)
        x = float(differences[place])
        result[place] = _decide("exp", x, lambda value: _grid_of(value, dtype))
    return result


@cache
def _exponential_table() -> NDArray[np.int64]:
    """Return e**d for every fp16 number d <= 0, in units of 2**-40, indexed by the bits of d.

    The entries of all other numbers are 0.
    """
    numbers = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    used = np.flatnonzero(numbers <= 0)
    table = np.zeros(1 << 16, np.int64)
    table[used] = _exponentials64(numbers[used])
    table.flags.writeable = False
    return table


def _exponentials(differences: Host) -> NDArray[np.int64]:
    if differences.dtype == np.float16:
        return _exponential_table()[np.ascontiguousarray(differences).view(np.uint16)]
    return _exponentials64(differences)


def _quotients(parts: NDArray[np.int64], totals: NDArray[np.int64], dtype: DTypeLike) -> Host:
    """Return `parts` / `totals`, rounded once to the host type `dtype`."""
    from fractions import Fraction

    exact = parts / totals
    result = to_host(exact * (1 - _MARGIN), dtype)
    unsure = result != to_host(exact * (1 + _MARGIN), dtype)
    for index in np.argwhere(unsure):
        place = tuple(index)
        value = Fraction(int(parts[place]), int(totals[place]))
        result[place] = round_fraction(value, dtype)
    return result
