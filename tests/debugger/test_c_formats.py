"""The formats of `printf` and `dprintf` against the C library's own `snprintf`."""

import ctypes
from itertools import product

import pytest

from macaw.debugger.dprintf import check_format, format_values

LIBRARY = ctypes.CDLL(None)
FLAGS = ("", "-", "#", "0", " ", "+", "-0", "#0", "+ ", "+0", " 0", "#-", "-+#")
WIDTHS = ("", "5", "12")
PRECISIONS = ("", ".0", ".3", ".9", ".")
WHOLE_NUMBERS = (0, 1, 8, -1, -300, 65, 2**31 - 1)
REAL_NUMBERS = (0.0, 1.5, -2.25, 1e30, 123456.0, float("inf"), float("nan"), 1e-7)


def text_of_c(form, value):
    buffer = ctypes.create_string_buffer(100)
    LIBRARY.snprintf(buffer, len(buffer), form.encode(), value)
    return buffer.value.decode()


@pytest.mark.parametrize("letter", ["d", "i", "u", "x", "X", "o", "hhd", "hd", "hhx", "ho"])
def test_whole_numbers(letter):
    for flags, width, precision in product(FLAGS, WIDTHS, PRECISIONS):
        form = f"[%{flags}{width}{precision}{letter}]"
        check_format(form, 1)
        for value in WHOLE_NUMBERS:
            assert format_values(form, [value]) == text_of_c(form, value), (form, value)


@pytest.mark.parametrize("letter", "eEfFgG")
def test_real_numbers(letter):
    for flags, width, precision in product(FLAGS, WIDTHS, PRECISIONS):
        form = f"[%{flags}{width}{precision}{letter}]"
        check_format(form, 1)
        for value in REAL_NUMBERS:
            expected = text_of_c(form, ctypes.c_double(value))
            assert format_values(form, [value]) == expected, (form, value)


def test_characters_and_strings():
    for flags, width in product(("", "-"), WIDTHS):
        assert format_values(f"%{flags}{width}c", [65]) == text_of_c(f"%{flags}{width}c", 65)
        for precision in (*PRECISIONS, ".1"):
            form = f"%{flags}{width}{precision}s"
            assert format_values(form, ["text"]) == text_of_c(form, b"text"), form
