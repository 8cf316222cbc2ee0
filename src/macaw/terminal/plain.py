"""Plain output, for screen readers and logs: no colour, no drawing, one record on each line.

The option --plain of a command chooses it, or `MACAW_PLAIN=1` in the environment.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table

_PLAIN: ContextVar[bool] = ContextVar("plain", default=False)


def is_plain() -> bool:
    """Return whether the running command prints plain output."""
    return _PLAIN.get()


def choose_plain() -> None:
    """Choose plain output until the command ends."""
    _PLAIN.set(True)


@contextlib.contextmanager
def plain_from_environment() -> Iterator[None]:
    """Choose plain output for the `with` block if the environment has `MACAW_PLAIN=1`.

    After the block, the earlier choice is valid again.
    """
    token = _PLAIN.set(os.environ.get("MACAW_PLAIN", "") not in {"", "0"})
    try:
        yield
    finally:
        _PLAIN.reset(token)


def record(headings: Sequence[str], cells: Sequence[str]) -> str:
    """Return a row of a table as one line, in which each cell comes after its heading.

    An example is `core pe; cycles 1,234`. Cells without a text are left out.
    """
    pairs = (
        (" ".join(heading.split()), " ".join(cell.split()))
        for heading, cell in zip(headings, cells, strict=True)
    )
    return "; ".join(f"{heading} {cell}".strip() for heading, cell in pairs if cell)


def records(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield each row of a table as one line, in which each cell comes after its heading."""
    return (record(headings, row) for row in rows)


def rich_records(table: Table) -> Iterator[str]:
    """Yield each row of a table of the library rich as one line, in the form of `record`."""
    headings = [str(column.header) for column in table.columns]
    for row in zip(*(column.cells for column in table.columns), strict=True):
        yield record(headings, list(map(str, row)))
