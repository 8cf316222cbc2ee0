"""Block diagrams: the numbered boxes of a core's unit, as the figures of the seeds draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Box(NamedTuple):
    """A box of the figure. `look(unit)` returns the names and present values of its contents."""

    number: str
    name: str
    look: Callable[[tuple[int, ...]], Mapping[str, Any]]
