"""Block diagrams: the numbered boxes of a core, as the figures of the seeds draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from macaw.isa.typed_records import NamedTuple


class Box(NamedTuple):
    """One box of a figure.

    `look(unit)` returns the present contents of the box, by name. `unit` has the indices of one
    unit of the core, such as a PE.
    """

    number: str
    name: str
    look: Callable[[tuple[int, ...]], Mapping[str, Any]]
