"""The arithmetic of int8: sums of 32 bits in Rz, which become int8 numbers when they leave Rz.

Nothing is rounded in Rz. A sum that exceeds 32 bits wraps. When a slice of Rz leaves the circuit,
each of its sums is divided by a power of two, rounded half to even, and limited to int8.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.numerics import fits, round_half_even_shift, saturate
from macaw.isa.fim_circuit import DOT, FUNCTION_NAMES

Bytes = NDArray[np.uint8]
Sums = NDArray[Any]  # of the type int32
BITS = 8  # of a number outside of Rz
SUM = np.dtype("<i4")  # the type of a sum in Rz


def results(function: int, arrange: int, left: Bytes, right: Bytes) -> Sums:
    """Return the results of an operation on the columns `left` and `right`, of shape (..., 32).

    `function` and `arrange` are the numbers that `mmr` writes. In int8 there are two arrangements:
    elementwise has a result for each of the 32 lanes, dot has one result. The results, of shape
    (..., 32) or (..., 1), are exact, because 32 products of int8 numbers need only 20 bits.
    """
    x, y = left.view(np.int8).astype(SUM), right.view(np.int8).astype(SUM)
    if arrange == DOT:
        return np.asarray(np.einsum("...i,...i->...", x, y))[..., None]
    return np.asarray(_lanes(FUNCTION_NAMES[function], x, y))


def _lanes(name: str, x: Sums, y: Sums) -> Sums:
    """Apply the function `name` to the lanes of the operands `x` and `y`; return the results."""
    match name:
        case "add":
            return x + y
        case "sub":
            return x - y
        case "mul":
            return x * y
        case "and":
            return x & y
        case "or":
            return x | y
        case "xor":
            return x ^ y
        case "not":
            return ~x
        case "relu":
            return np.maximum(x, 0)
        case "vssqr":
            return x * x
    raise ValueError(f"int8 has no function {name}")


def accumulate(old: Sums, new: Sums) -> Sums:
    """Return the sums of the old contents of Rz and new results. They wrap at 32 bits."""
    return np.add(old, new, dtype=SUM)


def leaving(sums: Bytes, shift: int) -> tuple[Bytes, NDArray[np.intp]]:
    """Return slices of Rz as they leave the circuits, and how many numbers were limited to int8.

    `sums` has the bytes of a slice of each bank, of shape (banks, 128). The sums are divided by
    2**`shift`. The resulting columns have shape (banks, 32), the counts shape (banks,).
    """
    divided = round_half_even_shift(np.ascontiguousarray(sums).view(SUM), shift)
    limited = np.count_nonzero(~fits(divided, BITS), axis=-1)
    return saturate(divided, BITS).astype(np.int8).view(np.uint8), limited
