"""The block diagram of a unit of a core, as the seeds' figures have it: numbered boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Box(NamedTuple):
    """A box of a figure; `look` returns its present contents in a unit, by name."""

    number: str
    name: str
    look: Callable[[tuple[int, ...]], Mapping[str, Any]]
