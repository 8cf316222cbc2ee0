"""Shows the numbers in registers whose declared type is bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.debugger.state_paths import Members
from macaw.emu import bfloat16


def as_numbers(members: Members, name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the register `name` of a place as pairs (name, value), in which bytes become numbers.

    `value` is the register's value. Its bytes become an array of numbers, whose type the core says
    (`Inspectable.number_type`). If the place has several units, there is a pair for each unit
    (`rz[3]` is the register of unit 3). If the value is not bytes, or the core says no type, the
    result is one pair with the value unchanged.
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
