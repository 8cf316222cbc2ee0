"""What a seed's figures show of a unit of a core: numbered boxes, and what each holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple


class Box(NamedTuple):
    """A box of a figure; `look` gives what that of a unit holds or passes on now, by name."""

    number: str
    name: str
    look: Callable[[tuple[int, ...]], Mapping[str, Any]]
