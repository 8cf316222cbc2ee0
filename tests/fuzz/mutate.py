"""Damage to bytes, lines and tokens, whatever they mean."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

EXTREMES = (
    *(0, 1, 2, 3, 4, 7, 8, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF),
    *(0x7FFFFFFF, 0x80000000, 0xFFFFFFF0, 0xFFFFFFFC, 0xFFFFFFFF),
)
# Code points that programs trip over: controls, blanks that are none, marks that join or turn
# the text around, digits and letters of other scripts, beyond 16 bits, halves of a pair.
_ODD = "\0\x01\x0b\x0c\r\x1a\x1b\x1c\x85\xa0\xad\u0130\u0131\u0301\u0660\u200b\u200d\u202e\u2028"
_ODD += "\u2029\u3000\ufeff\ufffd\uff11\U0001f600\U0001d7d9\U000e0041\U0010ffff\ud800\udfff"


def several(rng: Random, most: int = 6) -> int:
    """How many times to damage an example: 1 to `most`, each further time with probability 1/2."""
    count = 1
    while count < most and rng.random() < 0.5:
        count += 1
    return count


def character(rng: Random) -> str:
    """Any character, odd ones more often."""
    kind = rng.randrange(3)
    if kind == 0:
        return rng.choice(_ODD)
    return chr(rng.randrange(128)) if kind == 1 else chr(rng.randrange(0x110000))


def number(rng: Random, old: int, bits: int, others: Sequence[int] = ()) -> int:
    """A new value for a field of `bits` bits: near the old one, extreme, or one of `others`."""
    kind = rng.randrange(5)
    if kind == 0:
        new = old + rng.choice((-4, -2, -1, 1, 2, 4))
    elif kind == 1:
        new = old ^ 1 << rng.randrange(bits)
    elif kind == 2 and others:
        new = rng.choice(others)
    elif kind == 3:
        new = rng.getrandbits(bits)
    else:
        new = rng.choice(EXTREMES)
    return new & ((1 << bits) - 1)


def some_bytes(rng: Random, data: bytearray, low: int = 0, high: int | None = None) -> None:
    """Change a byte between two offsets, or one of its bits."""
    high = len(data) if high is None else min(high, len(data))
    if low < high:
        place = rng.randrange(low, high)
        if rng.random() < 0.5:
            data[place] ^= 1 << rng.randrange(8)
        else:
            data[place] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))


def cut(rng: Random, data: bytearray) -> None:
    """Remove the end, from a random byte on."""
    del data[rng.randrange(len(data) + 1) :]


def extended(rng: Random, data: bytearray) -> None:
    """Append random bytes."""
    data += rng.randbytes(rng.choice((1, 2, 3, 4, 16, 100)))


def spliced(rng: Random, data: bytearray, other: bytes) -> None:
    """Insert a piece of another file; in most cases, remove a piece of equal length."""
    start = rng.randrange(len(other) + 1)
    piece = other[start : start + rng.choice((1, 2, 4, 8, 16, 40, 52, 200))]
    at = rng.randrange(len(data) + 1)
    removed = len(piece) if rng.random() < 0.7 else 0
    data[at : at + removed] = piece


def lines_changed(rng: Random, lines: list[str], pool: Sequence[str]) -> None:
    """Remove, repeat, exchange or insert a line; lines to insert come from `pool`."""
    at = rng.randrange(len(lines) + 1)
    kind = rng.randrange(4)
    if kind == 0 and at < len(lines):
        del lines[at]
    elif kind == 1 and at < len(lines):
        lines.insert(rng.randrange(len(lines) + 1), lines[at])
    elif kind == 2 and at < len(lines):
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    else:
        lines.insert(at, rng.choice(pool))


def tokens_changed(rng: Random, tokens: list[str], pool: Sequence[str]) -> None:
    """Remove, repeat, exchange, replace or insert a token; new ones come from `pool`."""
    at = rng.randrange(len(tokens)) if tokens else 0
    kind = rng.randrange(5) if tokens else 4
    if kind == 0:
        del tokens[at]
    elif kind == 1:
        tokens.insert(at, tokens[at])
    elif kind == 2:
        other = rng.randrange(len(tokens))
        tokens[at], tokens[other] = tokens[other], tokens[at]
    elif kind == 3:
        tokens[at] = rng.choice(pool)
    else:
        tokens.insert(at, rng.choice(pool))
