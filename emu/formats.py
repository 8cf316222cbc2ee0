"""How a core reads bytes of memory as numbers of its own, for whoever looks there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Row = tuple[int, tuple[Any, ...]]  # byte in the unit at which it begins, cells


class MemoryFormat(NamedTuple):
    """A format: units of `size` bytes, each as rows below `columns`.

    `rows` raises `ValueError` for bytes that are no such numbers.
    """

    meaning: str
    size: int
    columns: tuple[str, ...]
    rows: Callable[[bytes], Sequence[Row]]
