"""Block diagrams: the numbered boxes of a unit of a core, as the figures of the seeds draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Box(NamedTuple):
    """A box of a figure. `look(unit)` returns its present contents: values by name."""

    number: str
    name: str
    look: Callable[[tuple[int, ...]], Mapping[str, Any]]
