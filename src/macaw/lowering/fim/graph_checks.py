"""Checks the arguments with which tasks are added to a graph. All functions raise `LowerError`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.fim_circuit import FORMATS, MOST_SHIFT
from macaw.lowering.errors import LowerError

# A bias in int8 is a sum of digits, all but the first of which are multiplied by FACTOR.
FACTOR = 127
MOST_DIGITS = 28  # with their factors they are columns of one row
MOST_BIAS = FACTOR // 2 + FACTOR * FACTOR * (MOST_DIGITS - 1)


def scaling(form: int, shift: int) -> dict[str, int]:
    """Return the keyword arguments of a task for its shift: `{"shift": shift}`, or {}.

    `form` is the index of the number format. A task of floating-point numbers has no such argument;
    `shift` must then be 0.
    """
    numbers = FORMATS[form]
    if not numbers.is_integer:
        if shift:
            raise LowerError(f"a shift of {shift} of {numbers.name} numbers")
        return {}
    if not 0 <= shift <= MOST_SHIFT:
        raise LowerError(f"a shift of {shift}", f"shifts are 0 to {MOST_SHIFT}")
    return {"shift": shift}


def bias_row(
    form: int, name: str, data: NDArray[Any] | None, bias: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return the bias of a product as a row of integers, one for each column of its right side.

    The right side is the tensor `name` with the numbers `data`. It must be a constant, the numbers
    must be int8, and the bias must be small enough to be a sum of products of int8.
    """
    row = np.asarray(bias).reshape(1, -1).astype(np.int64)
    if not FORMATS[form].is_integer:
        raise LowerError(f"a bias of {FORMATS[form].name} numbers", "add a constant")
    if data is None or row.shape[1] != data.shape[1]:
        raise LowerError(
            f"a bias of {row.shape[1]} numbers for {name}",
            "the right side of a product with a bias is a constant, with a number a column",
        )
    most = int(np.abs(row).max())
    if most > MOST_BIAS:
        raise LowerError(f"a bias of {most} in int8", f"it is at most {MOST_BIAS}")
    return row


def mul_add_factors(form: int, factors: Sequence[NDArray[Any] | None]) -> None:
    """Check that a task a · b + c · d is in int8, and that its `factors` b and d are constants."""
    if not FORMATS[form].is_integer:
        raise LowerError(f"mul_add of {FORMATS[form].name} numbers", "int8 has it")
    if any(data is None for data in factors):
        raise LowerError("mul_add of factors that are no constants")


def group_blocks(name: str, data: NDArray[Any] | None, groups: int) -> None:
    """Check that a product's left side has `groups` blocks on its diagonal and zeros beside them.

    The left side is the tensor `name` with the numbers `data`. It must be a constant, and all
    blocks must have the same size.
    """
    if data is None:
        raise LowerError(f"{groups} groups of {name}, which is no constant")
    rows, columns = data.shape
    if groups < 1 or rows % groups or columns % groups:
        raise LowerError(f"{name} ({rows} x {columns}) has no {groups} equal blocks")
    blocks = data.reshape(groups, rows // groups, groups, columns // groups)
    used = np.any(blocks, axis=(1, 3))
    if np.any(used & ~np.eye(groups, dtype=bool)):
        raise LowerError(f"{name} has numbers other than zero beside its {groups} blocks")


def row_numbers(rows: Sequence[int], height: int) -> None:
    """Check that all `rows` are rows of a matrix with `height` rows."""
    for row in rows:
        if not 0 <= row < height:
            raise LowerError(f"row {row} is out of range, 0 to {height - 1}")
