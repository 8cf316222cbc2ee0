"""Follows a path of members, types and subscripts into a value of a core's state.

`field_range` says which bytes of the state's field the path selects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.values import (
    VIEWS,
    AccessError,
    FieldRange,
    Indices,
    convert_like,
    fit,
    indices_text,
    near,
    size_of,
    view_as,
)

if TYPE_CHECKING:
    from macaw.emu.state import State, StateField


@dataclass
class ElementPath:
    """A path into a field of a core's state; `value` is what the path has reached so far.

    An assignment to `owner[key]` replaces the value. If `owner` is None, the value can be set only
    if it is a writeable array.
    """

    value: Any
    owner: Any = None
    key: Any = None

    def member(self, name: str, text: str) -> None:
        """Go on to a member of the value, or to the value's bytes as another type.

        `name` is the member or the type. Messages call the path `text`. Raises `AccessError`.
        """
        if name in VIEWS:
            self.owner, self.key, self.value = None, None, view_as(self.value, VIEWS[name], text)
        elif isinstance(self.value, Mapping) and name in self.value:
            self.owner, self.key, self.value = self.value, name, self.value[name]
        elif name.isdecimal():
            self.index((int(name),), text)
        else:
            names = [*(self.value if isinstance(self.value, Mapping) else ()), *VIEWS]
            raise AccessError(f"{text} has no '{name}'{near(name, names)}")

    def index(self, indices: tuple[Any, ...], text: str) -> None:
        """Go on to the elements of the value that `indices` select. Raises `AccessError`."""
        key = indices[0] if len(indices) == 1 else indices
        try:
            value = self.value[key]
        except (IndexError, KeyError, TypeError, ValueError):
            raise AccessError(
                f"{text} has no element {indices_text(indices)}{size_of(self.value)}"
            ) from None
        if isinstance(self.value, bytes | tuple):
            self.owner = None
        else:
            self.owner = self.value
        self.key, self.value = key, value

    def set(self, value: Any, text: str) -> None:
        """Assign `value` to the element that the path has reached; messages call the path `text`.

        Raises `AccessError` if the element cannot be set.
        """
        if self.owner is None:
            if isinstance(self.value, np.ndarray) and self.value.flags.writeable:
                self.value[...] = fit(value, self.value.dtype, text)
                return
            raise AccessError(f"{text} cannot be set")
        if isinstance(self.owner, np.ndarray):
            self.owner[self.key] = fit(value, self.owner.dtype, text)
        else:
            self.owner[self.key] = convert_like(value, self.value, text)


def fill_subscripts(
    steps: Sequence[str | int], indices: Indices
) -> Iterator[str | tuple[Any, ...]]:
    """Yield the steps of a path with the values of its subscripts.

    A number n among `steps` stands for a subscript of n indices; a tuple of the next n of `indices`
    replaces it. So the steps "q1", 1, "level" with the indices (2,) become "q1", (2,), "level".
    """
    at = 0
    for step in steps:
        if isinstance(step, str):
            yield step
        else:
            yield tuple(indices[at : at + step])
            at += step


def field_range(
    state: State, row: StateField, steps: Iterable[str | tuple[Any, ...]]
) -> FieldRange:
    """Return which part of the field `row` the `steps` of a path (types, subscripts) select.

    For an array, the result is (field, first byte, number of bytes); these bytes may include some
    that lie between the selected elements. For an item of a list it is (field, index of the item,
    1), and for a whole list (field, 0, 0).
    """
    whole = getattr(state, row.name)
    if not isinstance(whole, np.ndarray):
        first = next((step for step in steps if not isinstance(step, str)), None)
        if first is None or not isinstance(first[0], int):
            return row.name, 0, 0
        return row.name, first[0], 1
    part = whole
    for step in steps:
        if isinstance(step, str) and step in VIEWS:
            part = part.view(VIEWS[step])
            continue
        if isinstance(step, str):
            step = (int(step),)  # such as `vr1.0`
        # Use a slice of one element, because an array has an address.
        alone = len(step) == part.ndim and all(isinstance(x, int) for x in step)
        part = part[tuple(slice(x, x + 1 or None) for x in step) if alone else step]
        part = part.reshape(-1) if alone else part
    begin = part.ctypes.data - whole.ctypes.data
    reach = [(count - 1) * stride for count, stride in zip(part.shape, part.strides, strict=True)]
    low = begin + sum(min(x, 0) for x in reach)
    return row.name, low, begin + sum(max(x, 0) for x in reach) + part.itemsize - low
