"""Computes the results of tasks in binary64, with no roundings but those of int8."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError

Numbers = NDArray[np.float64]


def int8(values: Numbers, shift: int) -> Numbers:
    """Return sums of 32 bits as int8 numbers: divided by 2 ** `shift`, rounded, and limited."""
    return np.asarray(np.clip(np.rint(values / 2**shift), -128, 127))  # exact in binary64


def gathered(x: Numbers, segments: NDArray[np.integer[Any]], shape: tuple[int, int]) -> Numbers:
    """Return the numbers of `x` at the indices `segments`, in the shape `shape`.

    `segments` has shape (segments, width).
    """
    return np.asarray(x.reshape(-1)[segments].reshape(shape))


def scattered(
    values: Sequence[Numbers], segments: NDArray[np.integer[Any]], shape: tuple[int, int]
) -> Numbers:
    """Return the result of a scatter: a matrix in which the numbers of `values[0]` replace others.

    The matrix is `values[1]`, or zeros if there is none, and has shape `shape`. `segments` has the
    index in it (row by row) at which each number of `values[0]` goes, in shape (segments, width).
    """
    target = values[1].copy() if len(values) > 1 else np.zeros(shape)
    target.reshape(-1)[segments] = values[0].reshape(segments.shape)
    return target


def pointwise(function: str, values: Sequence[Numbers]) -> Numbers:
    """Return the function `function` of the elements of tensors.

    Raises `LowerError` if it is a function of bits, such as `and`.
    """
    x = values[0]
    match function:
        case "add":
            return x + values[1]
        case "sub":
            return x - values[1]
        case "mul":
            return x * values[1]
        case "mul_add":
            return x * values[1] + values[2] * values[3]
        case "div":
            return x / values[1]
        case "max":
            return np.maximum(x, values[1])
        case "min":
            return np.minimum(x, values[1])
        case "relu":
            return np.maximum(x, 0.0)
        case "vssqr":
            return x * x
        case "vssqrt":
            return np.sqrt(x)
        case "sigmoid":
            return np.asarray(1 / (1 + np.exp(-x)))
        case "tanh":
            return np.tanh(x)
    raise LowerError(f"{function} is a function of bits, not of numbers")
