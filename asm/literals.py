"""Converts numbers and strings of a source: numbers of 64 bits, escapes as in C."""

from __future__ import annotations

import re

from macaw.asm.syntax import Mistake
from macaw.isa.lazy_pattern import lazy_pattern

WORD = 1 << 64
_ESCAPE = lazy_pattern(r"\\(x[0-9A-Fa-f]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}


def wrap(value: int) -> int:
    """Return `value` modulo 2^64 as a signed number, because expressions have 64 bits."""
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


def unescape(text: str, offset: int) -> bytes:
    """Return the bytes (UTF-8) of a string, from its source text without quotes.

    `offset` is the offset of the text in its line. Raises `Mistake` for an unknown escape.
    """
    pieces, position = [], 0
    for match in _ESCAPE.finditer(text):
        pieces.append(text[position : match.start()].encode("utf-8", "surrogatepass"))
        try:
            pieces.append(_escape_bytes(match))
        except Mistake as mistake:
            mistake.start, mistake.end = mistake.start + offset, mistake.end + offset
            raise
        position = match.end()
    pieces.append(text[position:].encode("utf-8", "surrogatepass"))
    return b"".join(pieces)


def _escape_bytes(match: re.Match[str]) -> bytes:
    code = match[1]
    if code[0] == "x" and len(code) > 1:
        return bytes([int(code[1:], 16) & 0xFF])
    if code[0] in "01234567":
        return bytes([int(code, 8) & 0xFF])
    if code in _ESCAPES:
        return bytes([_ESCAPES[code]])
    if code in "\\\"'":
        return code.encode()
    raise Mistake(
        f"'\\{code}' is no escape",
        match.span(),
        "there are \\b \\f \\n \\r \\t \\v \\\\ \\\" \\' \\123 (octal) \\x41",
    )
