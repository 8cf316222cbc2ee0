"""Rounds numbers to bfloat16, a type that NumPy does not have."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.emu import bfloat16


@check_arguments(array=arguments.array)
def round_bfloat16(array: ArrayLike) -> NDArray[np.float32]:
    """Return numbers rounded once to bfloat16, half to even, as a float32 array of the same shape.

    A number beyond the range becomes infinite. Raises `InputError` for anything but numbers.
    """
    return bfloat16.round_bfloat16(array)
