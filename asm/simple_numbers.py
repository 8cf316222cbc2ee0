"""Encodes a line of plain numbers as data."""

from __future__ import annotations

import struct
from itertools import repeat

from macaw.asm.simple_statement import NUMBER
from macaw.isa.lazy_pattern import lazy_pattern

_NUMBERS = lazy_pattern(rf" *-?(?:{NUMBER}) *(?:, *-?(?:{NUMBER}) *)*")
_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # format letters of `struct`, by bytes


def limits(size: int) -> tuple[int, int]:
    """Return the least signed and the greatest unsigned number of `size` bytes."""
    return -(1 << (8 * size - 1)), (1 << 8 * size) - 1


def encode_numbers(text: str, size: int) -> bytes | None:
    """Return the bytes of the numbers in `text`, with `size` bytes for each.

    Commas separate the numbers. Return None if a piece is not a number, or if a number does not fit
    into `size` bytes.
    """
    if not _NUMBERS.fullmatch(text):
        return None
    has_bases = "x" in text or "X" in text
    values = list(map(int, text.split(","), repeat(0 if has_bases else 10)))
    if "-" in text:
        low, high = limits(size)
        if min(values) < low:
            return None
        values = [value & high if value < 0 else value for value in values]
    try:
        return struct.pack(f"<{len(values)}{_LETTERS[size]}", *values)
    except struct.error:  # some do not fit
        return None
