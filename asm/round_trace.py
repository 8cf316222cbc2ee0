"""What the lines of a repetition's round do with symbols, so that later rounds need not be read.

While the first round is read, `AssemblyState.trace` lists these entries in the order of the lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Assignment(NamedTuple):
    """`.set name, source + number`. Without a `source`, the value is a number.

    `before` is the value of the source.
    """

    name: str
    source: str | None
    before: int


class Field(NamedTuple):
    """Bytes at `offset` of the area that store a number: `name` plus a constant, here `value`.

    `encode` returns the bytes for another value, or None if it does not fit. It is None for a
    number as data.
    """

    offset: int
    size: int  # bytes
    name: str
    value: int
    encode: Callable[[int], bytes | None] | None = None


class Waiting(NamedTuple):
    """Bytes at `offset` of the area that get the value of the symbol `name` after the layout.

    The same line has the same bytes in each round.
    """

    offset: int
    size: int  # bytes
    name: str


Entry = Assignment | Field | Waiting
