"""Encodes a line of plain numbers as data."""

from __future__ import annotations

import struct

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
    values = list(map(_literal if has_bases else int, text.split(",")))
    try:
        return struct.pack(f"<{len(values)}{_LETTERS[size]}", *values)
    except struct.error:  # some are negative, or do not fit
        low, high = limits(size)
        if min(values) < low or max(values) > high:
            return None
        return b"".join([(value & high).to_bytes(size, "little") for value in values])


def _literal(text: str) -> int:
    return int(text, 0)
