"""User values: printed values and convenience variables that a session stores for the user.

As in GDB, `$1` is the first value that `print` has shown, `$` the last value, `$$` the value before
it and `$$3` the third value before the last. `$name` is a variable that `set $name = V` makes. The
command `x` sets `$_` to the last address that it has shown, and `$__` to the contents of memory
there. The commands that set points set `$bpnum` to the point's number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macaw.debugger.values import Access, AccessError

MOST = 10_000  # the greatest number of printed values that are stored
ElementType = np.dtype[Any] | None  # the type of a value's elements in the device, if known
_PRINTED = re.compile(r"(\$?)(\d{0,9})")  # what may follow the first `$` of a name


@dataclass
class UserValues:
    """The printed values and convenience variables of one session.

    `printed` begins with the oldest value that is still stored; `dropped` is the number of older
    values, which are no longer stored. `printed_types` and `variable_types` have the types of the
    values' elements in the device, if known.
    """

    printed: list[Any] = field(default_factory=list)
    dropped: int = 0
    printed_types: list[ElementType] = field(default_factory=list)
    variables: dict[str, Any] = field(default_factory=dict)  # by name, without its `$`
    variable_types: dict[str, ElementType] = field(default_factory=dict)


def add_printed(values: UserValues, value: Any, dtype: ElementType) -> None:
    """Add a printed value. If there are more than `MOST` values, drop the oldest value.

    `dtype` is the type of the value's elements in the device, if known.
    """
    values.printed.append(value)
    values.printed_types.append(dtype)
    if len(values.printed) > MOST:
        del values.printed[0], values.printed_types[0]
        values.dropped += 1


def set_variable(values: UserValues, name: str, value: Any, dtype: ElementType = None) -> None:
    """Give the variable `$name` a value.

    `dtype` is the type of the value's elements in the device, if known.
    """
    values.variables[name] = value
    values.variable_types[name] = dtype


def printed_access(values: UserValues, name: str) -> Access | None:
    """Return the access to a printed value; None if `name` is not one of `$`, `$$`, `$1`, ...

    `name` is given without its first `$`. Reading raises `AccessError` if there is no such value.
    """
    match = _PRINTED.fullmatch(name)
    if match is None:
        return None

    def index() -> int:
        last = values.dropped + len(values.printed)
        back = int(match[2] or (1 if match[1] else 0)) if match[1] or not match[2] else None
        number = int(match[2]) if back is None else last - back
        if not values.dropped < number <= last:
            raise AccessError(f"${name} is no value that `print` has shown, {_shown(values)}")
        return number - values.dropped - 1

    def present_type() -> ElementType:
        return values.printed_types[index()]

    return Access(f"${name}", lambda: values.printed[index()], present_type=present_type)


def _shown(values: UserValues) -> str:
    last = values.dropped + len(values.printed)
    return f"it has shown ${values.dropped + 1} to ${last}" if last else "it has shown none"


def variable_access(values: UserValues, name: str, computed: Mapping[str, Any] | None) -> Access:
    """Return the access to the variable `$name`.

    `computed` has the variables that the user cannot set, with None for a variable that has no
    value yet. Reading a variable that has no value raises `AccessError`.
    """
    fixed = computed or {}

    def read() -> Any:
        known = fixed if name in fixed else values.variables
        if known.get(name) is None:
            hint = " yet" if name in fixed else f"; set ${name} = V gives it one"
            raise AccessError(f"${name} has no value{hint}")
        return known[name]

    def write(value: Any) -> None:
        set_variable(values, name, value)

    def set_type(dtype: ElementType) -> None:
        values.variable_types[name] = dtype

    def present_type() -> ElementType:
        return values.variable_types.get(name)

    if name in fixed:
        return Access(f"${name}", read)
    return Access(f"${name}", read, write, present_type=present_type, set_type=set_type)
