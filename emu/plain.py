"""Plain values: copies and packs the values that `object` fields of a state may have.

None, bool, int, float, str, bytes, and NumPy arrays and scalars of numbers are plain values. So are
tuples, lists and dicts of plain values; keys of dicts must be str or int. `pack` returns equal
bytes for two values if their types, their contents and the order of the keys in dicts are equal.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Any

import numpy as np


class PlainError(ValueError):
    """A value that is not plain, or bytes that do not encode a plain value."""


_CONSTANTS = {None: b"n", True: b"t", False: b"f"}
_FIXED = frozenset((int, bool, float, str, bytes, type(None)))  # types of values that never change
_EXACT = _FIXED - {float}  # types whose equal values give equal bytes
_COMPARED = _EXACT | {list, tuple, dict}
_DEPTH = 64  # the greatest depth of nested containers


def copy(value: Any) -> Any:
    """Return a copy of a plain value; lists, dicts and arrays inside it are copied, too."""
    if isinstance(value, list):
        return [item if type(item) in _FIXED else copy(item) for item in value]
    if isinstance(value, tuple):
        return tuple([item if type(item) in _FIXED else copy(item) for item in value])
    if isinstance(value, dict):
        return {key: item if type(item) in _FIXED else copy(item) for key, item in value.items()}
    return value.copy() if isinstance(value, np.ndarray) else value


def is_fixed(value: Any) -> bool:
    """Return whether a value is a number, a text, bytes or None, which cannot change."""
    return type(value) in _FIXED


def same(one: Any, other: Any) -> bool:
    """Return whether the plain values `one` and `other` give equal bytes.

    Raises `PlainError` for other values.
    """
    kind = type(one)
    if kind is not type(other) or kind not in _COMPARED:
        return pack(one) == pack(other)
    if kind in _EXACT:
        return bool(one == other)
    if len(one) != len(other):
        return False
    if kind is dict and not all(map(same, one, other)):  # false also for keys in another order
        return False
    pairs = (
        zip(one.values(), other.values(), strict=True)
        if kind is dict
        else zip(one, other, strict=True)
    )
    return all(a is b or same(a, b) for a, b in pairs)


def pack(value: Any) -> bytes:
    """Return a plain value as bytes.

    Raises `PlainError` for any other value, and for containers in more than 64 levels.
    """
    if type(value) is int:  # most values are small integers
        return _packed_int(value)
    pieces: list[bytes] = []
    _pack(value, pieces, 0)
    return b"".join(pieces)


def _pack(value: Any, out: list[bytes], depth: int) -> None:
    if depth > _DEPTH:
        raise PlainError("containers are nested too deeply")
    if type(value) is int:
        out.append(_packed_int(value))
    elif value is None or value is True or value is False:
        out.append(_CONSTANTS[value])
    elif isinstance(value, int | np.integer):
        out.append(_packed_int(int(value)))
    elif isinstance(value, float | np.floating):
        out.append(b"d" + struct.pack("<d", value))
    elif isinstance(value, str):
        _sized(out, b"s", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes | bytearray):
        _sized(out, b"b", bytes(value))
    elif isinstance(value, list | tuple):
        out.append((b"l" if isinstance(value, list) else b"u") + struct.pack("<Q", len(value)))
        for item in value:
            _pack(item, out, depth + 1)
    elif isinstance(value, dict):
        out.append(b"m" + struct.pack("<Q", len(value)))
        for key, item in value.items():
            if not isinstance(key, str | int):
                raise PlainError(f"a key of type {type(key).__name__} is not plain")
            _pack(key, out, depth + 1)
            _pack(item, out, depth + 1)
    elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        out.append(b"a")
        _pack((value.dtype.str, value.shape), out, depth + 1)
        _sized(out, b"b", value.tobytes())
    else:
        raise PlainError(f"a value of type {type(value).__name__} is not plain")


@lru_cache(maxsize=4096)  # most numbers are small
def _packed_int(value: int) -> bytes:
    digits = b"%d" % value
    return b"i" + struct.pack("<Q", len(digits)) + digits


def _sized(out: list[bytes], tag: bytes, data: bytes) -> None:
    out += (tag, struct.pack("<Q", len(data)), data)


def unpack(data: bytes) -> Any:
    """Return the value that `pack` encoded as these bytes. Raises `PlainError`."""
    reader = _Reader(data)
    value = reader.value(0)
    if reader.place != len(data):
        raise PlainError("bytes are left over")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def take(self, count: int) -> bytes:
        piece = self.data[self.place : self.place + count]
        if len(piece) != count:
            raise PlainError("the bytes are cut off")
        self.place += count
        return piece

    def size(self) -> int:
        return int(struct.unpack("<Q", self.take(8))[0])

    def value(self, depth: int) -> Any:
        if depth > _DEPTH:
            raise PlainError("containers are nested too deeply")
        tag = self.take(1)
        for constant, letter in _CONSTANTS.items():
            if tag == letter:
                return constant
        try:
            return self._tagged(tag, depth)
        except (ValueError, TypeError, OverflowError) as error:
            if isinstance(error, PlainError):
                raise
            raise PlainError(f"the bytes are no value: {error}") from None

    def _tagged(self, tag: bytes, depth: int) -> Any:
        if tag == b"i":
            return int(self.take(self.size()))
        if tag == b"d":
            return struct.unpack("<d", self.take(8))[0]
        if tag == b"s":
            return self.take(self.size()).decode("utf-8", "surrogatepass")
        if tag == b"b":
            return self.take(self.size())
        if tag in (b"l", b"u"):
            # Each item takes at least one byte, so a count cannot be greater than the bytes left.
            items = [self.value(depth + 1) for _ in range(min(self.size(), len(self.data) + 1))]
            return items if tag == b"l" else tuple(items)
        if tag == b"m":
            return {
                self.value(depth + 1): self.value(depth + 1)
                for _ in range(min(self.size(), len(self.data) + 1))
            }
        if tag == b"a":
            dtype, shape = self.value(depth + 1)
            if np.dtype(dtype).kind not in "biuf":
                raise PlainError(f"an array of type {dtype} is not plain")
            return np.frombuffer(self.value(depth + 1), dtype).reshape(shape).copy()
        raise PlainError(f"the tag {tag!r} is unknown")
