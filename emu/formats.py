"""Memory formats: a core's own number formats in memory, which the debugger shows decoded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Row = tuple[int, tuple[Any, ...]]  # byte in the unit at which it begins, cells


class MemoryFormat(NamedTuple):
    """A number format of a core, as the debugger shows it.

    The debugger cuts memory into pieces of `size` bytes. `rows` decodes one piece into rows of a
    table with these `columns`, and raises `ValueError` for bytes that are no such numbers.
    """

    meaning: str
    size: int
    columns: tuple[str, ...]
    rows: Callable[[bytes], Sequence[Row]]
