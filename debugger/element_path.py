"""How a part of a state is reached, view by view, subscript by subscript, and where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macaw.debugger.values import (
    VIEWS,
    AccessError,
    Indices,
    Spot,
    fitting,
    like,
    near,
    shown,
    size_of,
    viewed,
)

if TYPE_CHECKING:
    from macaw.emu.state import State, StateField


@dataclass
class Chain:
    """A value and how it is reached: `owner[key]`, or the field `key` of a state."""

    value: Any
    owner: Any = None
    key: Any = None

    def member(self, name: str, text: str) -> None:
        """Go on to a member."""
        if name in VIEWS:
            self.owner, self.key, self.value = None, None, viewed(self.value, VIEWS[name], text)
        elif isinstance(self.value, Mapping) and name in self.value:
            self.owner, self.key, self.value = self.value, name, self.value[name]
        elif name.isdecimal():
            self.index((int(name),), text)
        else:
            names = [*(self.value if isinstance(self.value, Mapping) else ()), *VIEWS]
            raise AccessError(f"{text} has no '{name}'{near(name, names)}")

    def index(self, indices: tuple[Any, ...], text: str) -> None:
        """Go on to an element, or to several."""
        key = indices[0] if len(indices) == 1 else indices
        try:
            value = self.value[key]
        except (IndexError, KeyError, TypeError, ValueError):
            raise AccessError(
                f"{text} has no element {shown(indices)}{size_of(self.value)}"
            ) from None
        if isinstance(self.value, bytes | tuple):
            self.owner = None
        else:
            self.owner = self.value
        self.key, self.value = key, value

    def set(self, value: Any, text: str) -> None:
        """Replace what was reached."""
        if self.owner is None:
            if isinstance(self.value, np.ndarray) and self.value.flags.writeable:
                self.value[...] = fitting(value, self.value.dtype, text)
                return
            raise AccessError(f"{text} cannot be set")
        if isinstance(self.owner, np.ndarray):
            self.owner[self.key] = fitting(value, self.owner.dtype, text)
        else:
            self.owner[self.key] = like(value, self.value, text)


def filled(steps: Sequence[str | int], indices: Indices) -> Iterator[str | tuple[Any, ...]]:
    """The steps with the values of their subscripts: a number says how many it takes."""
    at = 0
    for step in steps:
        if isinstance(step, str):
            yield step
        else:
            yield tuple(indices[at : at + step])
            at += step


def spot(state: State, row: StateField, steps: Iterable[str | tuple[Any, ...]]) -> Spot:
    """Where in a field something stands, to which views and subscripts lead."""
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
            step = (int(step),) if step.isdecimal() else (step,)  # `vr1.0`
        if not all(isinstance(x, int | slice) for x in step):
            break  # several that need not lie together
        # One element is kept as an array: it shows where it stands.
        alone = len(step) == part.ndim and all(isinstance(x, int) for x in step)
        part = part[tuple(slice(x, x + 1 or None) for x in step) if alone else step]
        part = part.reshape(-1) if alone else part
    begin = part.ctypes.data - whole.ctypes.data
    reach = [(count - 1) * stride for count, stride in zip(part.shape, part.strides, strict=True)]
    low = begin + sum(min(x, 0) for x in reach)
    return row.name, low, begin + sum(max(x, 0) for x in reach) + part.itemsize - low
