"""Bounds of the sums of a layer, from its weights: a proof that the sums do not overflow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError


def accumulator_range(
    weights: NDArray[Any], bias: NDArray[Any], dtype: str
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the least and the greatest sum of each output for inputs of the integer type `dtype`.

    `weights` has shape (outputs, n) if a sum has n products, `bias` has shape (outputs,). For the
    greatest sum, each product has its greatest value, and a negative bias is left out. For the
    least sum, each product has its least value, and a positive bias is left out. So each partial
    sum is between the two results, whatever the order of the additions.
    """
    info = np.iinfo(dtype)
    wide = weights.astype(np.int64)
    plus, minus = np.maximum(wide, 0).sum(1), np.minimum(wide, 0).sum(1)
    offset = bias.astype(np.int64)
    most = plus * int(info.max) + minus * int(info.min) + np.maximum(offset, 0)
    least = plus * int(info.min) + minus * int(info.max) + np.minimum(offset, 0)
    return least, most


def check_accumulators(
    weights: NDArray[Any], bias: NDArray[Any], dtype: str, accumulator: str
) -> None:
    """Raise `LowerError` if a sum could leave the range of the type `accumulator`.

    `weights` has shape (outputs, n) if a sum has n products, `bias` has shape (outputs,). `dtype`
    is the type of the inputs.
    """
    least, most = accumulator_range(weights, bias, dtype)
    info = np.iinfo(accumulator)
    wrong = np.flatnonzero((least < int(info.min)) | (most > int(info.max)))
    if wrong.size:
        channel = int(wrong[0])
        raise LowerError(
            f"output {channel} could sum to {least[channel]:,} or to {most[channel]:,}, outside of"
            f" {accumulator}",
            "int16, or smaller weights and biases",
        )
