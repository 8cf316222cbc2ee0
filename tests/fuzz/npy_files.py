"""Fuzzes `.npy` files: each gives the array that NumPy reads, or a `DataError`."""

from __future__ import annotations

import io
import struct
import warnings
from functools import cache
from random import Random

import numpy as np

from macaw.asm.data import DataError, read_npy
from macaw.asm.forms.pe.sparse import sparse
from tests.fuzz import mutate
from tests.fuzz.target import Example, Target, require, sentence

MAGIC = b"\x93NUMPY"
KINDS = "i1 u1 i2 u2 i4 u4 i8 f2 f4 f8 u8 b1 c8 c16 f16 S3 U2 V4 M8 m8 O".split()
SHAPES = ((), (0,), (1,), (7,), (3, 4), (2, 0, 3), (2, 3, 4), (1,) * 5, (9, 1), (1, 300))
DESCRIPTIONS = (
    *(f"'{order}{kind}'" for order in "<>|=" for kind in KINDS),
    *("''", "'<'", "'i4'", "'<i'", "'<i3'", "'<i04'", "'<i4 '", "'int8'", "'<i4,<i4'", "'|O8'"),
    *("b'<i4'", "1", "None", "('<i4',)", "['<i4']", "[('a', '<i4')]", "[('a', '|O')]", "{}"),
    *("[('a', '<i4', (2, 2)), ('b', [('c', '<f8')])]", "'<i4\\x00'", "'\\ud800'", "'<f4' '<f4'"),
)
LENGTHS = (
    "() (0,) (1,) (3,) (3, 4) (-1,) (-1, -1) (2.0,) (True,) (None,) (1j,) ('3',) (b'3',) ((3,),)"
    " [3] 3 {3} None ... (0, 1<<62) (4611686018427387904, 0) (4294967296, 4294967296) (65536, 65536)"
    " (9223372036854775807,) (18446744073709551616,) (1000000, 1000000, 1000000) (1073741824,)"
    " (1073741825,) (-0,) (+3,) (0x3,) (0b11, 0o4) (1_0,) (03,) (3L,)"
).replace(", ", ",").split()  # fmt: skip
LENGTHS += ["(" + "1," * count + ")" for count in (31, 32, 33, 64, 5000)]
LENGTHS += ["(" + "9" * count + ",)" for count in (30, 4000, 5000)]
VALUES = (
    *("True False 0 1 None 'no' [] () 1.5 -1 not 1+1 1<<99 __import__('os') f'{1}' lambda:0".split()),
    *("(" * 4000, "[" * 900 + "]" * 900, "-" * 3000 + "1", "~" * 99 + "1", "9" * 4500, "1" + "+1" * 3000),
    *("'" * 3, '"', "'a' " * 999, "{**{}}", "*a", "x:=1", "1 if 1 else 2", "\\", "#", "\0", "\n", ";"),
)  # fmt: skip
KEYS = ("descr", "fortran_order", "shape", "", "Descr", "shape ", "extra", "\\x64escr")


def npy_file(header: str, payload: bytes, version: int = 1, length: int | None = None) -> bytes:
    """A file with this header, padded as NumPy pads it."""
    encoded = header.encode("utf-8" if version == 3 else "latin-1", "replace")
    form = "<H" if version == 1 else "<I"
    start = 8 + struct.calcsize(form)
    encoded += b" " * (-(start + len(encoded) + 1) % 64) + b"\n"
    told = len(encoded) if length is None else length
    told &= (1 << 8 * struct.calcsize(form)) - 1
    return MAGIC + bytes([version, 0]) + struct.pack(form, told) + encoded + payload


@cache
def corpus() -> tuple[bytes, ...]:
    """Valid files of all element types, shapes and versions of the format."""
    found: list[bytes] = []
    rng = np.random.default_rng(1)
    for kind in KINDS[:11]:
        for order in "<<<>":
            for shape in SHAPES:
                values = rng.integers(0, 100, shape) * (rng.random(shape) < 0.6)
                array = np.asarray(values).astype(np.dtype(order + kind))
                stream = io.BytesIO()
                np.lib.format.write_array(stream, array, ((1, 0), (2, 0), (3, 0))[len(found) % 3])
                found.append(stream.getvalue())
    for array in (np.array([None, 1]), np.asfortranarray(np.ones((2, 3))), np.zeros(2, "i4,f8")):
        stream = io.BytesIO()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.lib.format.write_array(stream, array)
        found.append(stream.getvalue())
    return tuple(found)


def make(rng: Random) -> Example[bytes]:
    """A valid file with some damage, or a file with an odd header."""
    origin = rng.choice(corpus())
    thorough = rng.random() < 0.3
    if rng.random() < 0.4:
        return Example(_odd(rng), origin, thorough)
    data = bytearray(origin)
    for _ in range(mutate.several(rng)):
        _damage(rng, data)
    return Example(bytes(data), origin, thorough)


def _damage(rng: Random, data: bytearray) -> None:
    kind = rng.randrange(9)
    if kind < 3:
        mutate.some_bytes(rng, data, 0, 128)
    elif kind > 6:
        mutate.some_bytes(rng, data, 128)
    elif kind == 3:
        mutate.cut(rng, data)
    elif kind == 4:
        mutate.extended(rng, data)
    elif kind == 5:
        mutate.spliced(rng, data, rng.choice(corpus()))
    else:
        piece = rng.choice((*DESCRIPTIONS, *LENGTHS, *VALUES)).encode("utf-8", "replace")
        at = rng.randrange(min(len(data), 128) + 1)
        data[at : at + rng.randrange(8)] = piece[:9000]


def _odd(rng: Random) -> bytes:
    """A file with a header of odd pieces, and data that may fit it."""
    kind, order = rng.choice(KINDS[:10]), rng.choice("<<<<|>")
    shape = rng.choice(SHAPES)
    pairs = [("descr", repr(order + kind)), ("fortran_order", "False"), ("shape", repr(shape))]
    size = int(kind[1]) * int(np.prod(shape))
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        at = rng.randrange(3)
        key, _old = pairs[at]
        own = (DESCRIPTIONS, ("False", "False", "True", "0"), LENGTHS)[at]
        values = rng.choice((own, own, VALUES))
        pairs[at] = (key, rng.choice(values))
    if rng.random() < 0.1:
        at = rng.randrange(len(pairs))
        pairs[at] = (rng.choice(KEYS), pairs[at][1])
    if rng.random() < 0.1:
        rng.shuffle(pairs)
    if rng.random() < 0.1:
        pairs.insert(rng.randrange(4), (rng.choice(KEYS), rng.choice(VALUES)))
    header = "{" + ", ".join(f"'{key}': {value}" for key, value in pairs) + ", }"
    if rng.random() < 0.1:
        at = rng.randrange(len(header))
        header = header[:at] + mutate.character(rng) + header[at + rng.randrange(2) :]
    length = rng.choice((None,) * 8 + (0, 1, len(header), 10_000, 10_001, 0xFFFF, 0xFFFFFFFF))
    size = max(0, size + rng.choice((0, 0, 0, 0, -1, 1)))
    return npy_file(header, rng.randbytes(size), rng.choice((1, 1, 1, 2, 3)), length)


def check(example: Example[bytes]) -> str:
    """Read a file; its array equals NumPy's, and can be compressed as weights or is refused."""
    try:
        array = read_npy(example.data)
    except DataError as error:
        sentence(str(error))
        return "refused"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours = np.frombuffer(array.data, np.dtype(array.dtype).newbyteorder("<"))
        theirs = np.lib.format.read_array(io.BytesIO(example.data), allow_pickle=False)
    require(
        array.shape == theirs.shape, "the shape is not NumPy's", f"{array.shape}, {theirs.shape}"
    )
    require(array.dtype == theirs.dtype.name, "the type is not NumPy's", array.dtype)
    require(ours.tobytes() == theirs.tobytes(), "the elements are not NumPy's")
    if example.thorough and len(array.data) <= 1 << 16:
        for element in ("int8", "int16", "fp16", "fp32"):
            try:
                found = sparse(array, [element], 3)
            except DataError as error:
                sentence(str(error))
            else:
                require(sum(found.records) == array.shape[0], "rows are lost")
    return "accepted"


TARGET = Target("npy", make, check)
