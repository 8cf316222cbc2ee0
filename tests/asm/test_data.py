"""Arrays, sparse matrices and decimal numbers against NumPy; damaged files."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.lib import format as npy_format

from macaw.asm import data, files, floats
from macaw.asm.assembler import assemble
from macaw.asm.data import DataError, read_npy
from macaw.asm.diagnostics import AssemblyError
from macaw.asm.forms.pe.sparse import sparse
from macaw.asm.source import Source
from tests.fuzzing import fuzz, properties

DTYPES = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "float16",
    "float32",
    "float64",
]


def saved(array: np.ndarray, version: tuple[int, int] | None = None) -> bytes:
    """Return an array as the bytes of a .npy file."""
    stream = io.BytesIO()
    npy_format.write_array(stream, array, version)
    return stream.getvalue()


@properties
@given(
    st.sampled_from(DTYPES).flatmap(
        lambda dtype: arrays.arrays(dtype, arrays.array_shapes(min_dims=0, max_dims=4, max_side=6))
    ),
    st.sampled_from([None, (1, 0), (2, 0), (3, 0)]),
)
def test_every_array_is_read(array: np.ndarray, version: tuple[int, int] | None) -> None:
    found = read_npy(saved(np.ascontiguousarray(array).reshape(array.shape), version))
    assert (found.dtype, found.shape) == (array.dtype.name, array.shape)
    assert found.data == array.tobytes()


@properties
@given(st.data())
def test_a_part_is_what_numpy_takes(draw: st.DataObject) -> None:
    shape = draw.draw(arrays.array_shapes(min_dims=1, max_dims=3, max_side=5))
    array = np.arange(int(np.prod(shape)), dtype=np.int16).reshape(shape)
    cuts: list[int | slice] = []
    for length in shape[: draw.draw(st.integers(1, len(shape)))]:
        if draw.draw(st.booleans()):
            cuts.append(draw.draw(st.integers(0, length - 1)))
        else:
            low = draw.draw(st.integers(0, length - 1))
            cuts.append(slice(low, draw.draw(st.integers(low + 1, length))))
    found = data.select(read_npy(saved(array)), cuts)
    wanted = array[tuple(cuts)]
    assert found.shape == wanted.shape
    assert found.data == wanted.tobytes()


@fuzz
@given(st.randoms(use_true_random=False))
def test_damaged_files_give_clear_errors(chance: random.Random) -> None:
    raw = bytearray(saved(np.arange(6, dtype=chance.choice(DTYPES)).reshape(2, 3)))
    for _ in range(chance.randrange(1, 4)):
        place = chance.randrange(len(raw))
        action = chance.randrange(4)
        if action == 0:
            raw[place] = chance.randrange(256)
        elif action == 1:
            del raw[place : place + chance.randrange(1, 20)]
        elif action == 2:
            raw[place:place] = bytes(chance.choice(b"()[]{}',0:<|TF\x00\xff\\\n") for _ in range(3))
        else:
            raw[10:10] = chance.choice([b"(" * 500, b"9" * 400, b"{'descr': ", b"'" * 7])
        if not raw:
            break
    try:
        read_npy(bytes(raw))
    except DataError as error:
        assert str(error).isprintable()


def header(text: str, version: int = 1, body: bytes = b"") -> bytes:
    """Return the bytes of a .npy file with this header."""
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode("latin-1") + body


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", "Python objects"),
        ("{'descr': 'O', 'fortran_order': False, 'shape': (1,), }", "Python objects"),
        ("{'descr': '>i2', 'fortran_order': False, 'shape': (1,), }", "big-endian"),
        ("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }", "element type"),
        ("{'descr': [('a', '<i2')], 'fortran_order': False, 'shape': (1,), }", "structured"),
        ("{'descr': '<i2', 'fortran_order': True, 'shape': (1, 2), }", "Fortran"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': [1], }", "shape"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (-1,), }", "shape"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (True,), }", "shape"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (1,)*40, }", "cannot be read"),
        (
            "{'descr': '<i2', 'fortran_order': False, 'shape': (99999999999999999,), }",
            "larger than",
        ),
        ("{'descr': '<i2', 'shape': (1,), }", "without"),
        ("__import__('os').system('true')", "cannot be read"),
        ("{'descr': '\\d', 'fortran_order': False, 'shape': (1,), }", "cannot be read"),
        ("(" * 5000, "cannot be read"),
        (" " * 20000, "at most 10000"),
        ("{'descr': '<i2', 'fortran_order': False, 'shape': (3,), }", "should hold 6 bytes"),
    ],
)
def test_headers_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_npy(header(text, body=b"\0\0"))


def test_a_file_that_is_cut_off_anywhere_is_refused() -> None:
    whole = saved(np.arange(5, dtype=np.int32))
    for length in range(len(whole)):
        with pytest.raises(DataError):
            read_npy(whole[:length])


@fuzz
@given(
    st.sampled_from(["int8", "int16", "fp16", "fp32"]),
    st.integers(1, 9),
    st.integers(1, 7),
    st.integers(1, 5),
    st.randoms(use_true_random=False),
)
def test_sparse_against_numpy(
    element: str, rows: int, columns: int, slots: int, chance: random.Random
) -> None:
    """Compressed weights hold each non-zero number of the matrix in order (seed 000 ¶91)."""
    dtype = np.dtype({"fp16": "float16", "fp32": "float32"}.get(element, element))
    values = [chance.choice([0, 0, 1, -2, -0.0, 77]) for _ in range(rows * columns)]
    matrix = np.array(values).astype(dtype).reshape(rows, columns)
    found = sparse(read_npy(saved(matrix)), [element], slots)
    rebuilt, place = np.zeros_like(matrix), 0
    starts = []
    for row in range(rows):
        if row % slots == 0:
            starts.append(place)
        (count,) = struct.unpack_from("<H", found.data, place)
        place += 2
        assert count == np.count_nonzero(matrix[row])
        for _ in range(count):
            (index,) = struct.unpack_from("<H", found.data, place)
            rebuilt[row, index] = np.frombuffer(found.data, dtype, 1, place + 2)[0]
            place += 2 + dtype.itemsize
    assert place == len(found.data)
    assert (rebuilt == matrix).all()
    assert [start for start, _ in found.rounds] == starts
    assert [a + b for a, b in found.rounds] == [*starts[1:], place]
    assert sum(found.records) == rows
    assert found.shape == (rows, columns)


FORMATS = [
    (floats.HALF, np.float16, np.uint16),
    (floats.SINGLE, np.float32, np.uint32),
    (floats.DOUBLE, np.float64, np.uint64),
]


@fuzz
@given(st.sampled_from(FORMATS), st.floats(allow_nan=False))
def test_decimal_numbers_against_numpy(
    kind: tuple[floats.FloatFormat, Any, Any], value: float
) -> None:
    form, numpy_type, bits = kind
    with np.errstate(over="ignore"):
        wanted = numpy_type(value)
    lost = np.isinf(wanted) != np.isinf(value) or (wanted == 0) != (value == 0)
    if lost:
        with pytest.raises(floats.FloatError, match="out of range"):
            floats.bits(repr(value), form)
    else:
        assert floats.bits(repr(value), form) == int(wanted.view(bits))


@pytest.mark.once
@pytest.mark.parametrize("kind", FORMATS[:1])
def test_every_half(kind: tuple[floats.FloatFormat, Any, Any]) -> None:
    form, numpy_type, bits = kind
    for number in range(1 << 16):
        value = bits(number).view(numpy_type)
        if np.isfinite(value):
            assert floats.bits(repr(float(value)), form) == number


def test_rounding_is_half_to_even_and_done_once() -> None:
    assert floats.bits("2049", floats.HALF) == 0x6800
    assert floats.bits("2051", floats.HALF) == 0x6802
    # A number just above half way, which a detour through double would round down.
    assert floats.bits("1.000000059604644775390626", floats.SINGLE) == 0x3F800001
    assert floats.bits("1.000000059604644775390625", floats.SINGLE) == 0x3F800000


def error_of(text: str, folder: Path | None, **options: object) -> str:
    """Return the only error message of a source."""
    with pytest.raises(AssemblyError) as caught:
        assemble(Source(text, "a.s", folder), **options)  # type: ignore[arg-type]
    assert len(caught.value.errors) == 1
    return caught.value.errors[0].message


def test_files_are_found_below_their_folders_only(tmp_path: Path) -> None:
    for name in ("source", "source/inner", "library", "outside"):
        (tmp_path / name).mkdir()
    array = np.arange(4, dtype=np.int8)
    for name in ("source/a.npy", "source/inner/b.npy", "library/c.npy", "outside/d.npy"):
        np.save(tmp_path / name, array)
    (tmp_path / "source/link.npy").symlink_to(tmp_path / "outside/d.npy")
    (tmp_path / "source/inside.npy").symlink_to(tmp_path / "source/a.npy")
    (tmp_path / "source/loop.npy").symlink_to(tmp_path / "source/loop.npy")
    (tmp_path / "source/folder").symlink_to(tmp_path / "outside")
    source, library = tmp_path / "source", tmp_path / "library"
    for good in ("a.npy", "inner/b.npy", "./a.npy", "inner/../a.npy", "inside.npy"):
        program = assemble(Source(f'.npy "{good}"', "a.s", source))
        assert program.section(".data").data == array.tobytes()
    assert assemble(Source('.npy "c.npy"', "a.s", source), include_dirs=[library]).sections
    assert assemble(Source('.npy "c.npy"', "a.s"), include_dirs=[str(library)]).sections
    # A link to itself in the first folder does not hide the file in the second one.
    np.save(library / "loop.npy", array)
    looped = assemble(Source('.npy "loop.npy"', "a.s", source), include_dirs=[library])
    assert looped.section(".data").data == array.tobytes()
    # From one allowed folder into another one is no way out.
    assert assemble(
        Source('.npy "../library/c.npy"', "a.s", source), include_dirs=[library]
    ).sections
    for bad in ("../outside/d.npy", "link.npy", "folder/d.npy", "inner/../../outside/d.npy"):
        assert "leads out of" in error_of(f'.npy "{bad}"', source)
    assert "is absolute" in error_of(f'.npy "{source}/a.npy"', source)
    for missing in ("none.npy", "loop.npy", "a.npy/x", "x" * 5000):
        assert "there is no file" in error_of(f'.npy "{missing}"', source)
    assert "'inner' is a folder" in error_of('.npy "inner"', source)
    assert "there is no file '../outside'" in error_of('.npy "../outside"', source)
    assert "empty or holds a zero byte" in error_of(r'.npy "a\0b"', source)
    assert "UTF-8" in error_of(r'.npy "\xff\xfe"', source)
    assert "a text without a folder" in error_of('.npy "a.npy"', None)


def test_a_special_file_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "zero.npy").symlink_to("/dev/zero")
    assert "there is no file" in error_of('.npy "zero.npy"', tmp_path)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    """Reading a file that has disappeared since it was found gives an error with its name."""
    with pytest.raises(
        files.FileError, match=r"^'a\.npy' cannot be read: No such file or directory$"
    ):
        files.read(tmp_path / "a.npy", 100)


def test_a_file_that_is_too_long_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "a.npy", np.zeros(100, np.int8))
    monkeypatch.setattr("macaw.asm.data_directives.MAX_BYTES", 50)
    assert (
        error_of('.npy "a.npy"', tmp_path) == "'a.npy' cannot be read: it is longer than 50 bytes"
    )


@pytest.mark.parametrize(
    "line",
    [".fill {}, 1", ".fill {} / 2, 2", ".fill {}, 1, 3", ".space {}", ".space {}, 3", ".org {}",
     ".array int8, {}", ".array int16, {} / 2"],
)  # fmt: skip
def test_a_statement_may_have_as_many_bytes_as_the_limit(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("macaw.asm.data_directives.MAX_BYTES", 64)
    program = assemble(Source(f".data\n{line.format(64)}\n", "a.s"))
    assert program.section(".data").size == 64
    assert error_of(f".data\n{line.format(66)}\n", None)


def test_a_negative_value_of_fill_that_its_bytes_hold() -> None:
    """`.fill` writes a negative value that fits in `size` bytes; it cuts a lesser one and warns."""
    for size, least in ((1, -128), (2, -32768), (4, -(1 << 31))):
        fits, cut = (
            assemble(Source(f".core cp\n.data\n.fill 2, {size}, {value}\n", "t.s"))
            for value in (least, least - 1)
        )
        assert not fits.warnings
        assert fits.section(".data").data == least.to_bytes(size, "little", signed=True) * 2
        assert "bits are kept" in "".join(map(str, cut.warnings))
