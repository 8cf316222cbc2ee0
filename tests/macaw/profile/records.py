"""Records made by hand."""

from __future__ import annotations

from macaw.isa.trace import GROUP
from macaw.profiling.recording import Record


def record(
    first: int, begin: int, end: int, instructions: int = 1, group: int = 0, **counters: int
) -> Record:
    """A record with these counters; all other counters are 0."""
    names = {row.name for row in GROUP}
    assert counters.keys() <= names
    values = (
        dict.fromkeys((row.name for row in GROUP), 0) | {"t_begin": begin, "t_end": end} | counters
    )
    return Record(group, 0, first, instructions, values)
