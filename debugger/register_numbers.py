"""Shows the numbers in registers whose declared type is bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.debugger.state_paths import Members
from macaw.emu import bfloat16


def as_numbers(members: Members, name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the register `name` of a place as pairs (name, value), with numbers for bytes.

    `value` is the register's value. Bytes become an array of the type that the core returns
    (`Inspectable.number_type`). If the place has several units, there is a pair for each unit
    (`rz[3]` is the register of unit 3). A value that is not bytes, or for which the core returns no
    type, is unchanged in a single pair.
    """
    if not isinstance(value, np.ndarray) or value.dtype != np.uint8 or not value.size:
        return [(name, value)]
    dtype = members.core.number_type(members.place.units, name)
    if not dtype:
        return [(name, value)]
    numbers = bfloat16.numbers(np.ascontiguousarray(value).view(bfloat16.element_type(dtype)))
    if numbers.ndim == 1:
        return [(name, numbers)]
    units = numbers.reshape(numbers.shape[0], -1)
    return [(f"{name}[{unit}]", row) for unit, row in enumerate(units)]
