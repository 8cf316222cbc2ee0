"""Arrays from .npy files, and sparse matrices as the PEs take them. No NumPy.

A reader of our own: the header is a literal that is only read, never run;
object arrays cannot be; what is not a plain C-ordered little-endian array of a
known element type is refused with the reason.
"""

from __future__ import annotations

import ast
import struct
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from isa import codec
from isa.kinds import Immediate
from isa.model import Structure
from isa.pe import ENTRY, OPERAND_DTYPES, WEIGHTS_RECORD

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
}


def _greatest(structure: Structure) -> int:
    """What the one member of a record can hold."""
    (member,) = structure.members
    assert isinstance(member.legal, Immediate)
    return member.legal.high


_MAX_COUNT, _MAX_INDEX = _greatest(WEIGHTS_RECORD), _greatest(ENTRY)


class DataError(ValueError):
    """A file holds no array that can be used; the message is fit for a user."""


@dataclass(frozen=True)
class Array:
    """A C-ordered little-endian array."""

    dtype: str
    shape: tuple[int, ...]
    data: bytes

    @property
    def item_size(self) -> int:
        """Bytes of an element."""
        return len(self.data) // (prod(self.shape) or 1)


@dataclass(frozen=True)
class Sparse:
    """Rows of index + value: the bytes, and each round's offset, length and rows."""

    data: bytes
    rounds: tuple[tuple[int, int], ...]
    records: tuple[int, ...]
    shape: tuple[int, ...]


def read_npy(data: bytes) -> Array:
    """The array of a .npy file's bytes, versions 1 to 3. Raises `DataError`."""
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
    found = len(data) - start - length
    if found != size:
        raise DataError(f"should hold {size} bytes of data by its header and holds {found}")
    return Array(dtype, shape, data[start + length :])


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
    # A length of 0 lets no other one off: NumPy's own limit counts them all.
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
        known = ", ".join(_DTYPES.values())
        raise DataError(f"holds the element type {description[:40]!a}; there are {known}")
    if order not in ("<", "|") or (order == "|" and code[1] != "1"):
        raise DataError("is big-endian; save it little-endian, array.astype('<" + code + "')")
    return _DTYPES[code]


Cut = int | slice


def select(array: Array, cuts: Sequence[Cut]) -> Array:
    """A part of an array: for each of its first dimensions an index or a range.

    Indices must lie in the array (`cut` makes them so).
    """
    item = array.item_size
    strides = [item * prod(array.shape[place + 1 :]) for place in range(len(array.shape))]

    def pieces(offset: int, place: int) -> Iterator[bytes]:
        if place == len(cuts):
            size = item * prod(array.shape[place:])
            yield array.data[offset : offset + size]
            return
        cut, stride = cuts[place], strides[place]
        if isinstance(cut, int):
            yield from pieces(offset + cut * stride, place + 1)
        elif place + 1 == len(cuts):
            yield array.data[offset + cut.start * stride : offset + cut.stop * stride]
        else:
            for index in range(cut.start, cut.stop):
                yield from pieces(offset + index * stride, place + 1)

    kept = tuple(cut.stop - cut.start for cut in cuts if isinstance(cut, slice))
    return Array(array.dtype, kept + array.shape[len(cuts) :], b"".join(pieces(0, 0)))


def sparse(array: Array, element: str, slots: int) -> Sparse:
    """The rows of a matrix as records of weights; `slots` rows a round.

    `element` is the device's type of weights. Row r goes to PE r mod K of cluster
    (r div K) mod M in round r div (K·M), which is just rows in order, `slots` =
    K·M at a time (pe.md, Data). Raises `DataError`.
    """
    wanted = OPERAND_DTYPES[element]
    if array.dtype != wanted:
        raise DataError(f"holds {array.dtype}; the device's weights are {wanted} (pe.element)")
    if len(array.shape) != 2:
        raise DataError(f"has {len(array.shape)} dimensions, a sparse matrix has 2")
    rows, columns = array.shape
    if not rows or not columns:
        raise DataError(f"is an empty matrix, {rows} x {columns}")
    item = array.item_size
    # Bits decide what is zero; of a floating-point number not the sign.
    mask = (1 << (8 * item - 1)) - 1 if wanted.startswith("float") else (1 << 8 * item) - 1
    code = {1: "B", 2: "H", 4: "I"}[item]
    whole_row = struct.Struct(f"<{columns}{code}")
    body = bytearray()
    rounds, records = [], []
    for first in range(0, rows, slots):
        start = len(body)
        last = min(first + slots, rows)
        for row in range(first, last):
            numbers = whole_row.unpack_from(array.data, row * whole_row.size)
            body += _record(numbers, mask, code, row)
        rounds.append((start, len(body) - start))
        records.append(last - first)
    return Sparse(bytes(body), tuple(rounds), tuple(records), array.shape)


def _record(numbers: Sequence[int], mask: int, code: str, row: int) -> bytes:
    indices = [index for index, value in enumerate(numbers) if value & mask]
    if indices and indices[-1] > _MAX_INDEX:
        raise DataError(f"has a weight at index {indices[-1]} of row {row}, at most {_MAX_INDEX}")
    if len(indices) > _MAX_COUNT:
        raise DataError(f"has {len(indices)} weights in row {row}, at most {_MAX_COUNT}")
    flat: list[int] = [len(indices)]
    for index in indices:
        flat += (index, numbers[index])
    entry = codec.codes(ENTRY) + code
    return struct.pack("<" + codec.codes(WEIGHTS_RECORD) + entry * len(indices), *flat)
