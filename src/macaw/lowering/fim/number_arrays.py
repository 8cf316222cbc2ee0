"""Arrays with numbers of a format of the circuits: in NumPy, and as elements in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw.emu import bfloat16
from macaw.isa.fim_circuit import NumberFormat


def rounded(values: ArrayLike | None, form: NumberFormat) -> NDArray[Any]:
    """Return numbers rounded once to a format, half to even; `form.numbers` is the array's type.

    `values` are the numbers of a constant, so they are not None.
    """
    assert values is not None
    if form.dtype == bfloat16.NAME:
        return bfloat16.round_bfloat16(values)
    if form.is_integer:
        array = np.asarray(values)
        if not np.all(array == array.astype(form.numbers)):
            raise ValueError(f"some numbers are not numbers of {form.name}")
    return np.asarray(values, form.numbers)


def stored(numbers: NDArray[Any], form: NumberFormat) -> NDArray[Any]:
    """Return numbers of a format as elements in memory, for a .npy file of a source.

    The elements of bfloat16 have NumPy's type `V2`. NumPy also writes this type to the .npy file of
    an array whose elements have the type bfloat16 of the package ml_dtypes.
    """
    if form.dtype == bfloat16.NAME:
        return bfloat16.encode(numbers).view("V2")
    return numbers


def greatest(form: NumberFormat) -> float:
    """Return the greatest finite number of a format."""
    if form.dtype == bfloat16.NAME:
        return bfloat16.GREATEST
    return float(np.finfo(form.numbers).max)
