"""Formats values for `print/F` and `x/NFU`, with GDB's letters or with types such as f16."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from macaw.debugger.commands.line import CommandError, parse_number
from macaw.debugger.values import VIEWS, AccessError, numbers_of, view_as
from macaw.emu.bfloat16 import BFLOAT16, encode

MOST = 1 << 16  # the greatest number of units that one command reads
SHOWN = 1000  # the greatest number of elements of an array that are printed

# The letters of a format: how each prints an integer's bits.
LETTERS: Mapping[str, str] = {
    "x": "hexadecimal",
    "z": "hexadecimal with zeros",
    "d": "signed",
    "u": "unsigned",
    "o": "octal",
    "t": "binary",
    "c": "character",
    "f": "floating-point",
    "a": "address and symbol",
    "s": "text, to its end",
    "i": "instruction",
}
_OF_BITS = "xzduota"  # letters that show all bits of a number, as many as its type has
UNITS: Mapping[str, int] = {"b": 1, "h": 2, "w": 4, "g": 8}  # bytes
_REALS: Mapping[int, np.dtype[Any]] = {x.itemsize: x for x in VIEWS.values() if x.kind == "f"}


@dataclass(frozen=True)
class Format:
    """The text after a slash: a count, a letter or a type, and the size of a unit in bytes.

    In place of a letter or type, `own` may have the name of a format that a core defines
    (`macaw.emu.inspection.Inspectable.formats`).
    """

    count: int | None = None
    letter: str = ""
    type: str = ""  # a type of `macaw.debugger.values.VIEWS`
    unit: int | None = None
    own: str = ""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of one unit in memory. Raises `CommandError`."""
        if self.type:
            return VIEWS[self.type]
        size = self.unit or (1 if self.letter in "cs" and self.letter else 4)
        if self.letter == "f":
            if size not in _REALS:
                raise CommandError("a floating-point number has 2, 4 or 8 bytes", "x/4fh, f16, f32")
            return _REALS[size]
        return np.dtype(f"<{'i' if self.letter == 'd' else 'u'}{size}")

    def __str__(self) -> str:
        """Return the format as a user writes it after the slash."""
        unit = next((letter for letter, size in UNITS.items() if size == self.unit), "")
        return f"{self.count or ''}{self.type or self.own or self.letter + unit}"


_FORMAT = re.compile(r"(\d*)([A-Za-z]\w*)?")


def read(text: str, before: Format | None = None, own: Collection[str] = ()) -> Format:
    """Return the format that a text such as `4xw` or `8f16` denotes. Raises `CommandError`.

    If the text has neither letter nor type, the result is `before` with the count of the text.
    `own` has the names of formats that cores of the device define.
    """
    match = _FORMAT.fullmatch(text)
    if match is None:
        raise _unknown(text, own)
    count = parse_number(match[1], base=10) if match[1] else None
    if count is not None and not 1 <= count <= MOST:
        raise CommandError(f"{count} units are out of range, 1 to {MOST}")
    word = match[2] or ""
    if word in VIEWS:
        return Format(count, type=word)
    if word in own:
        return Format(count, own=word)
    letter, unit = "", None
    for one in word:
        if one in LETTERS and not letter:
            letter = one
        elif one in UNITS and unit is None:
            unit = UNITS[one]
        else:
            raise _unknown(text, own)
    if before is not None and not word:
        return replace(before, count=count)
    return Format(count, letter, unit=unit)


def _unknown(text: str, own: Collection[str]) -> CommandError:
    letters = ", ".join(f"{letter} {name}" for letter, name in LETTERS.items())
    return CommandError(
        f"'{text}' is no format",
        f"a count, a letter ({letters}) and a unit ({', '.join(UNITS)}), or a type:"
        f" {', '.join((*VIEWS, *own))}",
    )


Symbol = Callable[[int], str]


def format_value(
    value: Any, form: Format, symbol: Symbol, dtype: np.dtype[Any] | None = None
) -> Any:
    """Return a value in a format, as a value that JSON can represent. Raises `CommandError`.

    `symbol` returns the name of an address. If the format has neither letter nor type, numbers
    remain numbers. `dtype` is the type of the value's elements in the device, if known. If it is a
    type of whole numbers, letters such as x show as many bits as it has. If it is bfloat16 and the
    format has a type, the result shows the 16 bits of the number in the device, not the bits of the
    float32 number that `value` is.
    """
    if dtype is not None and dtype.kind in "iu" and form.letter and form.letter in _OF_BITS:
        form = replace(form, unit=form.unit or dtype.itemsize)
    if isinstance(value, np.ndarray):
        return _array(value, form, symbol, dtype)
    if form.type:
        try:
            elements = numbers_of(_view(value, VIEWS[form.type], dtype))
        except AccessError as error:
            raise CommandError(str(error)) from None
        return (
            _array(elements, Format(), symbol)
            if isinstance(elements, np.ndarray)
            else _plain(elements)
        )
    if isinstance(value, np.generic):
        value = value.item()
    if not form.letter or not isinstance(value, int | float):
        return _plain(value)
    return _in_letter(value, form, symbol)


def _view(value: Any, wanted: np.dtype[Any], dtype: np.dtype[Any] | None) -> Any:
    if dtype == BFLOAT16 and isinstance(value, float | np.floating):
        elements = view_as(encode([float(value)]), wanted, "the value")
        return elements[0] if len(elements) == 1 else elements
    return view_as(value, wanted, "the value")


def _in_letter(value: float, form: Format, symbol: Symbol) -> Any:
    letter, size = form.letter, form.unit
    if letter == "f" and isinstance(value, int) and size is not None and size in _REALS:
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        return float(np.frombuffer(data, _REALS[size])[0])
    if letter == "f":
        return float(value)
    if isinstance(value, float):
        return value  # the number of its bits is unknown
    bits = 8 * size if size else (32 if -(1 << 31) <= value < 1 << 32 else 64)
    pattern = value & (1 << bits) - 1
    match letter:
        case "x":
            return f"{pattern:#x}"
        case "z":
            return f"{pattern:#0{2 + bits // 4}x}"
        case "o":
            return f"{pattern:#o}"
        case "t":
            return f"{pattern:#b}"
        case "u":
            return pattern
        case "d":
            return pattern - (1 << bits) if pattern >> bits - 1 else pattern
        case "c":
            return f"{pattern & 255} {chr(pattern & 255)!r}"
        case "a":
            name = symbol(pattern)
            return f"{pattern:#010x}" + (f" <{name}>" if name else "")
    raise CommandError(f"a value has no format '{letter}'", "x/ looks at memory")


def _array(
    value: np.ndarray[Any, Any], form: Format, symbol: Symbol, dtype: np.dtype[Any] | None = None
) -> Any:
    if form.letter or form.type:
        items = [format_value(item, form, symbol, dtype) for item in value.ravel()[:SHOWN]]
        more = value.size - len(items)
        return items if not more else [*items, f"... {more} more"]
    if value.size > SHOWN:
        return np.array2string(value, threshold=SHOWN, edgeitems=4, separator=", ")
    return _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return value.hex() if isinstance(value, bytes) else value
