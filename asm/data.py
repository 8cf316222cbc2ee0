"""Reads arrays from .npy files without NumPy.

The module parses the header as a Python literal, without executing code. It accepts only C-ordered
little-endian arrays of a known element type, so never arrays of Python objects. For any other
array, the error gives the reason.
"""

from __future__ import annotations

import ast
import struct
import warnings
from collections.abc import Iterator, Sequence
from math import prod

from macaw.isa.errors import MacawError
from macaw.isa.lazy_dataclass import dataclass

_MAGIC = b"\x93NUMPY"
_MAX_HEADER = 10_000  # characters, NumPy's own limit
_MAX_DIMENSIONS = 32
MAX_BYTES = 1 << 30

# NumPy's type descriptions without their byte order.
_DTYPES = {
    "i1": "int8",
    "u1": "uint8",
    "i2": "int16",
    "u2": "uint16",
    "i4": "int32",
    "u4": "uint32",
    "i8": "int64",
    "f2": "float16",
    "f4": "float32",
    "f8": "float64",
    "V2": "bfloat16",  # arrays of the package ml_dtypes; NumPy has no such type
}


class DataError(MacawError, ValueError):
    """The error for a file that does not contain a usable array; the message gives the reason."""


@dataclass(frozen=True)
class Array:
    """A C-ordered little-endian array: its element type, its shape and its bytes."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def item_size(self) -> int:
        """The size of one element in bytes."""
        return len(self.data) // (prod(self.shape) or 1)


def read_npy(data: bytes) -> Array:
    """Return the array in the bytes of a .npy file (format versions 1 to 3). Raises `DataError`."""
    if data[:6] != _MAGIC:
        raise DataError("is no .npy file; numpy.save writes one")
    if len(data) < 8:
        raise DataError("is cut off in its header")
    major, minor = data[6], data[7]
    if major not in (1, 2, 3) or minor:
        version = f"{major}.{minor}" if minor else f"{major}"
        raise DataError(f"has version {version} of the .npy format, 1 to 3 can be read")
    form = "<H" if major == 1 else "<I"
    start = 8 + struct.calcsize(form)
    if len(data) < start:
        raise DataError("is cut off in its header")
    (length,) = struct.unpack_from(form, data, 8)
    if length > _MAX_HEADER:
        raise DataError(f"has a header of {length} bytes, at most {_MAX_HEADER} are read")
    if len(data) < start + length:
        raise DataError("is cut off in its header")
    dtype, shape = _header(data[start : start + length], "utf-8" if major == 3 else "latin-1")
    size = prod(shape) * _item_size(dtype)
    available = len(data) - start - length
    if available != size:
        raise DataError(f"should hold {size} bytes of data by its header and holds {available}")
    return Array(dtype, shape, data[start + length :])


def dimensions_text(shape: Sequence[int]) -> str:
    """Return the shape of an array in words, for messages: "2 dimensions, 4 x 64"."""
    if not shape:
        return "no dimension, one number"
    if len(shape) == 1:
        return f"1 dimension, of {shape[0]} element{'s' * (shape[0] > 1)}"
    return f"{len(shape)} dimensions, {' x '.join(map(str, shape))}"


def _item_size(dtype: str) -> int:
    return next(int(code[1]) for code, name in _DTYPES.items() if name == dtype)


def _header(raw: bytes, encoding: str) -> tuple[str, tuple[int, ...]]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            header = ast.literal_eval(raw.decode(encoding))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError, Warning):
        raise DataError("has a header that cannot be read") from None
    if not isinstance(header, dict) or set(header) != {"descr", "fortran_order", "shape"}:
        raise DataError("has a header without descr, fortran_order and shape")
    shape = header["shape"]
    if (
        not isinstance(shape, tuple)
        or len(shape) > _MAX_DIMENSIONS
        or not all(type(length) is int and length >= 0 for length in shape)
    ):
        raise DataError("has a header whose shape is none")
    dtype = _dtype(header["descr"])
    if not isinstance(header["fortran_order"], bool):
        raise DataError("has a header whose fortran_order is neither True nor False")
    if header["fortran_order"] and len(shape) > 1:
        raise DataError("is in Fortran order; save numpy.ascontiguousarray(array)")
    # NumPy's limit counts all dimensions, even if one of them is 0.
    if prod(max(length, 1) for length in shape) * _item_size(dtype) > MAX_BYTES:
        raise DataError(f"is larger than {MAX_BYTES} bytes")
    return dtype, shape


def _dtype(description: object) -> str:
    if not isinstance(description, str):
        raise DataError("is a structured array; save plain numbers")
    order, code = description[:1], description[1:]
    if code == "O" or order == "O":
        raise DataError("holds Python objects, which are never read")
    if code not in _DTYPES:
        choices = ", ".join(_DTYPES.values())
        raise DataError(f"holds the element type {description[:40]!a}; there are {choices}")
    if order not in ("<", "|") or (order == "|" and code[1] != "1" and code[0] != "V"):
        raise DataError("is big-endian; save it little-endian, array.astype('<" + code + "')")
    return _DTYPES[code]


Selection = int | slice


def select(array: Array, selections: Sequence[Selection]) -> Array:
    """Return the part of an array that the indices and ranges of its first dimensions select.

    `selections` has one index or range for each of these dimensions. The caller has checked that
    they are inside of the array.
    """
    item = array.item_size
    strides = [item * prod(array.shape[place + 1 :]) for place in range(len(array.shape))]

    def pieces(offset: int, place: int) -> Iterator[bytes]:
        if place == len(selections):
            size = item * prod(array.shape[place:])
            yield array.data[offset : offset + size]
            return
        selection, stride = selections[place], strides[place]
        if isinstance(selection, int):
            yield from pieces(offset + selection * stride, place + 1)
        elif place + 1 == len(selections):
            yield array.data[offset + selection.start * stride : offset + selection.stop * stride]
        else:
            for index in range(selection.start, selection.stop):
                yield from pieces(offset + index * stride, place + 1)

    shape = tuple(
        selection.stop - selection.start for selection in selections if isinstance(selection, slice)
    )
    return Array(array.dtype, shape + array.shape[len(selections) :], b"".join(pieces(0, 0)))
