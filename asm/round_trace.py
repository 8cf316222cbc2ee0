"""Records what the lines of a repetition's round do with symbols.

While the assembler reads the first round, it adds an `Entry` for each assignment and each use of a
symbol to `AssemblyState.trace`, in the order of the lines. From the entries the assembler can
compute the later rounds without reading them.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.isa.typed_records import NamedTuple


class Assignment(NamedTuple):
    """The line `.set name, source + number`. If `source` is None, the line is `.set name, number`.

    `before` is the value of the symbol `source` before the assignment.
    """

    name: str
    source: str | None
    before: int


class Field(NamedTuple):
    """Bytes that store a number which depends on the symbol `name`.

    The bytes begin at `offset` of the area. The number is `value`: the symbol plus a constant.
    `encode` returns the bytes for another number, or None if that number does not fit. `encode` is
    None if the bytes are plain data.
    """

    offset: int
    size: int  # bytes
    name: str
    value: int
    encode: Callable[[int], bytes | None] | None = None


class Waiting(NamedTuple):
    """Bytes that get the value of the symbol `name` after the layout.

    The bytes begin at `offset` of the area and have the same value in every round.
    """

    offset: int
    size: int  # bytes
    name: str


Entry = Assignment | Field | Waiting
