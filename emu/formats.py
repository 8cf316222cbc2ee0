"""A core's own formats of numbers in memory, for the debugger."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Row = tuple[int, tuple[Any, ...]]  # byte in the unit at which it begins, cells


class MemoryFormat(NamedTuple):
    """A format: units of `size` bytes, each shown as rows of the table `columns`.

    `rows` decodes a unit. It raises `ValueError` for bytes that are no such numbers.
    """

    meaning: str
    size: int
    columns: tuple[str, ...]
    rows: Callable[[bytes], Sequence[Row]]
