"""A logical line to a statement.

Parsing knows no core: it gives the pieces of the line with their places. The
definition is the grammar of `grammar.lark` (`asm/grammar.py`); a line made of words
and plain numbers is split by hand (`asm/plain.py`), so that most programs never load
Lark. Equal texts are parsed once.
"""

from __future__ import annotations

import re
from functools import lru_cache

from macaw.asm import plain
from macaw.asm.syntax import Mistake, Name, Number, Statement

WORD = 1 << 64
_LONGEST_REMEMBERED = 400  # characters of a line whose statement is one of many that are kept
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]+|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
# The labels of a line that is wrong behind them.
_LABELS = re.compile(r"\s*([A-Za-z_$][A-Za-z0-9_.$]*|\.[A-Za-z0-9_.$]+|[0-9]+)\s*:")


def wrap(value: int) -> int:
    """`value` modulo 2^64 as a signed number: what an expression can be."""
    return (value + (WORD >> 1)) % WORD - (WORD >> 1)


def _escaped(match: re.Match[str]) -> bytes:
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


def unescape(text: str, offset: int = 0) -> bytes:
    """The bytes of a string's inside, UTF-8; `offset` is its place. Raises `Mistake`."""
    found, position = [], 0
    for match in _ESCAPE.finditer(text):
        found.append(text[position : match.start()].encode("utf-8", "surrogatepass"))
        try:
            found.append(_escaped(match))
        except Mistake as mistake:
            mistake.start, mistake.end = mistake.start + offset, mistake.end + offset
            raise
        position = match.end()
    found.append(text[position:].encode("utf-8", "surrogatepass"))
    return b"".join(found)


def parse(text: str) -> Statement:
    """The statement of a logical line without comments. Raises `Mistake`."""
    # Repeated with other numbers, long lines would fill the memory.
    return (_remembered if len(text) <= _LONGEST_REMEMBERED else _long_remembered)(text)


def _parse(text: str) -> Statement:
    found = plain.statement(text)
    if found is not None:
        return found
    from macaw.asm import grammar

    return grammar.parse(text)


_remembered = lru_cache(maxsize=8192)(_parse)
_long_remembered = lru_cache(maxsize=4)(_parse)


def labels_of(text: str) -> tuple[Name | Number, ...]:
    """The labels that a line begins with, whatever is wrong behind them."""
    labels: list[Name | Number] = []
    position = 0
    while match := _LABELS.match(text, position):
        start, end = match.span(1)
        word, position = match[1], match.end()
        if word[0].isdigit():
            labels.append(Number(start, end, int(word) if len(word) < 20 else -1))
        else:
            labels.append(Name(start, end, word))
    return tuple(labels)
