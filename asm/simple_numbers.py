"""Encodes a line of plain numbers as data."""

from __future__ import annotations

import struct

from macaw.asm.simple_statement import NUMBER
from macaw.isa.lazy_pattern import lazy_pattern

_NUMBERS = lazy_pattern(rf" *-?(?:{NUMBER}) *(?:, *-?(?:{NUMBER}) *)*")
# Format letters of `struct` for unsigned numbers, by bytes; the small letters are for signed ones.
_LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


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
    letter = _LETTERS[size]
    letters = letter * len(values)
    if "-" in text:
        letters = "".join([letter.lower() if value < 0 else letter for value in values])
    try:
        return struct.pack(f"<{letters}", *values)
    except struct.error:  # a number does not fit
        return None


def _literal(text: str) -> int:
    return int(text, 0)
