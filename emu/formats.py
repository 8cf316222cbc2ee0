"""Memory formats: a core's own number formats in memory, which the debugger can decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from macaw.isa.typed_records import NamedTuple

Row = tuple[int, tuple[Any, ...]]  # byte of the piece at which the row begins, and its cells


class MemoryFormat(NamedTuple):
    """A number format that a core uses in memory, which the debugger shows as a table.

    The debugger cuts memory into pieces of `size` bytes. `rows` decodes one piece into rows of a
    table with these `columns`. `rows` raises `ValueError` if the bytes are not numbers of the
    format.
    """

    meaning: str
    size: int
    columns: tuple[str, ...]
    rows: Callable[[bytes], Sequence[Row]]
