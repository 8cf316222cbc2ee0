"""Formats of `print` and `x` at the bounds of their sizes, against Python's own formats."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from macaw.debugger.commands import data, formats
from macaw.debugger.commands.formats import Format, format_value, read
from macaw.debugger.commands.interpreter import Interpreter
from macaw.debugger.commands.line import CommandError
from macaw.debugging import DebuggerFiles
from tests.debugger.programs import of_source

SIZES = {"": None, "b": 8, "h": 16, "w": 32, "g": 64}
VALUES = sorted(
    {sign * (1 << bits) + more for bits in (0, 7, 8, 15, 16, 31, 32, 63) for sign in (-1, 1)
     for more in (-1, 0, 1)} | {0}
)  # fmt: skip


def no_symbol(_address: int) -> str:
    return ""


def bits_of(value: int, size: str) -> int:
    """The bits of a value: as many as the unit has, or 32 if they suffice for it, else 64."""
    given = SIZES[size]
    if given is not None:
        return given
    return 32 if -(2**31) <= value < 2**32 else 64


@pytest.mark.parametrize("size", SIZES)
def test_integers_of_each_size(size: str) -> None:
    for value in VALUES:
        bits = bits_of(value, size)
        digits = "".join("1" if value >> place & 1 else "0" for place in reversed(range(bits)))
        unsigned = int(digits, 2)
        signed = unsigned - 2**bits if digits[0] == "1" else unsigned
        character = chr(int(digits[-8:], 2))
        expected = {
            "x": f"0x{unsigned:x}", "o": f"0o{unsigned:o}", "t": f"0b{unsigned:b}", "u": unsigned,
            "d": signed, "c": f"{ord(character)} {character!r}", "a": f"0x{unsigned:08x}",
        }  # fmt: skip
        for letter, text in expected.items():
            form = read(letter + size)
            assert format_value(value, form, no_symbol) == text, (value, letter)
            assert str(form) == letter + size


@pytest.mark.parametrize(("size", "code"), [("h", "<e"), ("w", "<f"), ("g", "<d")])
def test_floating_point_numbers_of_each_size(size: str, code: str) -> None:
    form = read(f"f{size}")
    width = struct.calcsize(code)
    for value in (0, 1, 0x3C00, 0x3F800000, (1 << 8 * width - 1) - (1 << 8 * width - 2), -1 << 7):
        raw = (value % (1 << 8 * width)).to_bytes(width, "little")
        (expected,) = struct.unpack(code, raw)
        assert repr(format_value(value, form, no_symbol)) == repr(expected)
    assert format_value(3, read("f"), no_symbol) == 3.0
    assert read(f"f{size}").dtype == np.dtype(f"<f{width}")


@pytest.mark.parametrize(
    ("text", "dtype"),
    [("", "<u4"), ("x", "<u4"), ("d", "<i4"), ("c", "u1"), ("s", "u1"), ("ch", "<u2"), ("db", "i1"),
     ("xg", "<u8"), ("gx", "<u8"), ("f", "<f4")],
)  # fmt: skip
def test_the_type_of_a_unit(text: str, dtype: str) -> None:
    assert read(text).dtype == np.dtype(dtype)


@pytest.mark.parametrize(
    ("count", "fits"),
    [(0, False), (1, True), (9, True), (formats.MOST, True), (formats.MOST + 1, False)],
)
def test_counts(count: int, fits: bool) -> None:
    if fits:
        assert read(f"{count}xw") == Format(count, "x", unit=4)
        assert read(str(count), read("2dh")) == Format(count, "d", unit=2)
        return
    with pytest.raises(CommandError, match=f"{count} units are out of range, 1 to {formats.MOST}"):
        read(f"{count}xw")


@pytest.mark.parametrize("text", ["xx", "bw", "xq", "-1x", "x1", "4 x"])
def test_texts_that_are_no_format(text: str) -> None:
    with pytest.raises(CommandError, match="is no format"):
        read(text)


@pytest.mark.parametrize("more", [-1, 0, 1, 2])
def test_an_array_is_printed_up_to_a_number_of_elements(more: int) -> None:
    count = formats.SHOWN + more
    array = np.arange(count, dtype=np.int32)
    hexadecimal = format_value(array, read("x"), no_symbol)
    assert hexadecimal[: formats.SHOWN] == [f"{x:#x}" for x in range(min(count, formats.SHOWN))]
    assert hexadecimal[formats.SHOWN :] == ([f"... {more} more"] if more > 0 else [])
    plain = format_value(array, Format(), no_symbol)
    if more <= 0:
        assert plain == list(range(count))
    else:
        ends = [*range(4), *range(count - 4, count)]
        assert [int(x) for x in plain.strip("[]").replace("...,", "").split(",")] == ends


@pytest.mark.parametrize("differ", [1, data.LISTED, data.LISTED + 1, data.LISTED + 2])
def test_differences_are_listed_up_to_a_number(differ: int, tmp_path) -> None:
    """`diff` lists the first differences in the order of the elements, and counts the others."""
    run = Interpreter(
        of_source(" .core cp\n_start: ebreak\n .output y, int16, 4, 5\n"), DebuggerFiles()
    )
    places = list(range(3, 3 + differ))
    golden = np.zeros(20, np.int16)
    golden[places] = [100 + x for x in places]
    np.save(tmp_path / "y.npy", golden.reshape(4, 5))
    answer = run.execute(f"diff y {tmp_path / 'y.npy'}")
    rows = [(f"y[{x // 5}, {x % 5}]", 100 + x, 0) for x in places]
    assert list(answer.rows) == rows[: data.LISTED]
    more = differ - data.LISTED
    assert answer.lines == ((f"and {more} more",) if more > 0 else ())
    start = run.session.program.tensor("y").address + 2 * places[0]
    assert answer.title == (
        f"{differ} of 20 elements differ, the first is y[0, 3] at {start:#010x} <y+6>"
    )
    assert answer.differs
