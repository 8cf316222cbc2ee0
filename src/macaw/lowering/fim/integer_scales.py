"""Converts the scales of quantised layers to the factors, shifts and limits of int8 circuits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import MOST_SHIFT
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.network import Output, Requantisation

_EXACT = 1 << 24  # binary32 has all integers up to this one
# With a smaller shift, a sum beyond _EXACT is limited to int8, whether binary32 has it or not.
_LIMITED = 16
_LEAST, _MOST = -128, 127
_FACTOR = 127  # the greatest factor of a sum of tensors
_SCALES = "macaw quantise without --per-channel chooses such scales"


def checked(output: Output | None) -> Requantisation:
    """Return `output`, which says how the sums of a layer become its result.

    Raises `LowerError` unless it is a requantisation to int8 with zero point 0.
    """
    if not isinstance(output, Requantisation):
        raise LowerError("its result is no int8")
    if output.zero_point:
        raise LowerError("its result has a zero point", "macaw quantise makes symmetric models")
    return output


def shift_of(output: Output | None, most: int, hint: str = _SCALES) -> int:
    """Return the shift of a layer: its sums are divided by 2 to the power of the shift.

    `most` is an upper bound of the magnitude of the sums. Raises `LowerError` if the sums are not
    all divided by one power of two; `hint` then says how to get such a model. Also raises
    `LowerError` if a circuit cannot make the shift exactly.
    """
    shifts = checked(output).shifts
    if shifts is None or len(np.unique(shifts)) != 1:
        raise LowerError("its sums are not divided by one power of two", hint)
    shift = int(shifts.reshape(-1)[0])
    if most >= 1 << 31:
        raise LowerError(f"its sums may be {most:,}, more than 32 bits")
    greatest = MOST_SHIFT if most <= _EXACT else _LIMITED
    if not 0 <= shift <= greatest:
        raise LowerError(
            f"its sums, up to {most:,}, are divided by 2**{shift}", f"0 to {greatest} are possible"
        )
    return shift


def factors_of(multipliers: tuple[float, ...]) -> tuple[int, tuple[int, ...]]:
    """Return (shift, integers), so that each multiplier is an integer divided by 2 ** shift.

    Raises `LowerError` if this needs a greater shift or greater integers than the circuits have.
    """
    shift = 0
    while shift < _LIMITED and any(x * 2.0**shift % 1 for x in multipliers):
        shift += 1
    found = [x * 2.0**shift for x in multipliers]
    if any(x % 1 or abs(x) > _FACTOR for x in found):
        raise LowerError(
            f"scales with the ratios {', '.join(f'{x:g}' for x in multipliers)}",
            f"integers up to {_FACTOR}, divided by a power of two, are possible",
        )
    return shift, tuple(int(x) for x in found)


def limits_of(output: Output | None) -> list[tuple[str, int]]:
    """Return the functions that limit a layer's int8 result to a smaller range.

    Each item is (function, bound): `relu` with 0, `max` with a least number, or `min` with a
    greatest number. The list is empty if the range is that of int8.
    """
    if isinstance(output, Requantisation):
        return range_limits(output.low, output.high)
    return []


def range_limits(low: int, high: int) -> list[tuple[str, int]]:
    """Return the functions that limit int8 numbers to the range from `low` to `high`.

    Each item is (name, bound): `relu` with 0, `max` with `low`, or `min` with `high`. A bound that
    int8 has anyway needs no function.
    """
    found: list[tuple[str, int]] = []
    if low == 0:
        found.append(("relu", 0))
    elif low > _LEAST:
        found.append(("max", low))
    if high < _MOST:
        found.append(("min", high))
    return found


def line_of(table: NDArray[Any]) -> tuple[int, int] | None:
    """Return (factor, shift) if a table of int8 numbers can be computed by one multiplication.

    For each int8 number x, the table then has x times the factor, divided by 2 ** shift, rounded,
    and limited to the range from the table's least to its greatest number. The result is None for
    any other table.
    """
    integers = np.arange(_LEAST, _MOST + 1)
    factors = np.array([1, *range(2, _FACTOR + 1), *range(-1, -_FACTOR - 1, -1)])
    for shift in range(_LIMITED - 1):
        exact = np.rint(factors[:, None] * integers / 2**shift)
        equal = np.all(np.clip(exact, table.min(), table.max()) == table, axis=1)
        if np.any(equal):
            return int(factors[np.argmax(equal)]), shift
    return None
