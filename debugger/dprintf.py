"""Makes the text that a point of the kind `dprintf` prints.

The text follows from expressions and from a format like those of C's printf.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from macaw.debugger.expressions import Expression, compile_expression
from macaw.debugger.model_names import with_symbols
from macaw.debugger.point import Point, PointError

if TYPE_CHECKING:
    from macaw.asm.program import Program
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.places import Place

WIDEST = 1000  # the greatest width and precision of a conversion
_CONVERSION = re.compile(
    r"%(?P<flags>[-#0 +]*)(?P<width>\d*|\*)(?:\.(?P<precision>\d*|\*))?"
    r"(?P<length>[hlqLjzt]*)(?P<letter>[a-zA-Z%])"
)
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
# replaces control characters, so that no text rings or colours the terminal
_ESCAPES = {"n": "\n", "t": "\t", "a": "", "e": ""}
_WRITTEN = {"\n": "\\n", "\t": "\\t", "\\": "\\\\", '"': '\\"'}
_LENGTHS = ("h", "hh", "l", "ll", "z", "j", "t")  # C's modifiers of the type of a whole number
_CUT = {"hh": 8, "h": 16}  # modifiers that cut a number, and the bits that they leave
_BITS = "uxXo"  # letters that print a negative number as unsigned
_WITH_LENGTH = f"di{_BITS}"
_WHOLE = f"{_WITH_LENGTH}c"  # letters of conversions that take a whole number
_LETTERS = f"{_WHOLE}eEfFgGs"


def check_format(form: str, count: int) -> None:
    """Raise `PointError` for a format that does not have `count` conversions, or has a wrong one.

    A conversion is wrong if its letter or its length modifier is unknown, if its width or precision
    is greater than `WIDEST`, or if it takes one of these from a value (`*`).
    """
    for match in _CONVERSION.finditer(form):
        for width in filter(None, (match["width"], match["precision"])):
            if width == "*" or float(width) > WIDEST:
                raise PointError(f"{match[0]}: a width is a number, {WIDEST} at most")
        if match["letter"] == "%" and match[0] != "%%":
            raise PointError(f"{match[0]} is no conversion: %% prints the sign")
        if match["letter"] not in f"%{_LETTERS}":
            raise PointError(
                f"{match[0]} is no conversion; those are %{' %'.join(_LETTERS)} and %%"
            )
        _check_length(match)
    if "%" in _CONVERSION.sub("", form):
        raise PointError("a % without a letter: %% prints the sign")
    conversions = _conversions(form)
    if len(conversions) != count:
        has = f"{len(conversions)} {'value' if len(conversions) == 1 else 'values'}"
        raise PointError(f"the format takes {has}, not {count}")


def _check_length(match: re.Match[str]) -> None:
    """Raise `PointError` if the conversion `match` has a length modifier that C does not have."""
    length, letter = match["length"], match["letter"]
    if length and length not in _LENGTHS:
        raise PointError(
            f"{match[0]} is no conversion; before {letter} come {', '.join(_LENGTHS)}, or none"
        )
    # `%lc`, `%ls` and `%lf` exist in C; the other modifiers are those of whole numbers.
    if length and length != "l" and letter not in _WITH_LENGTH:
        raise PointError(f"{match[0]} is no conversion; {length} comes before {_WITH_LENGTH}")


def _conversions(form: str) -> list[re.Match[str]]:
    """Return the conversions in `form` that take a value, in order."""
    return [match for match in _CONVERSION.finditer(form) if match["letter"] != "%"]


def unescape(text: str) -> str:
    """Return a text in which the characters that `\\n`, `\\t`, `\\"` ... mean replace these."""
    return _ESCAPE.sub(lambda match: _ESCAPES.get(match[1], match[1]), text)


def escape(text: str) -> str:
    """Return a text that `unescape` makes into `text`, and that may stand in quotation marks."""
    return "".join(_WRITTEN.get(char, char) for char in text)


def quoted_text(program: Program, value: str) -> str | None:
    """Return the text that `value` has in quotation marks, or None if it is an expression.

    A name of the network's model in quotation marks is an expression.
    """
    match = _TEXT.fullmatch(value)
    is_text = match is not None and with_symbols(program, value) == value
    return unescape(match[1]) if match is not None and is_text else None


def compile_value(debuggee: Debuggee, text: str, focus: tuple[Place, ...] | None) -> Expression:
    """Compile a value for a format: an expression, or a text in quotation marks for `%s`.

    Raises `ExpressionError`.
    """
    own = quoted_text(debuggee.program, text)
    if own is not None:
        return Expression(text, lambda: own)
    return compile_expression(debuggee, text, focus)


def dprintf_text(debuggee: Debuggee, point: Point, place: Place | None) -> str:
    """Return the text that the dprintf `point` prints at the present position.

    Short names in the expressions refer to `place`, or to the focus if `place` is None. If an
    expression has no value, the text is the format with the error.
    """
    focus = (place,) if place is not None else None
    try:
        values = [compile_value(debuggee, text, focus).value() for text in point.values]
        return format_values(point.form, values)
    except ValueError as error:
        return f"{point.form}: {error}"


def format_values(form: str, values: Sequence[Any]) -> str:
    """Return the format `form` with the values filled in.

    Raises `ValueError` if the values do not fit the format.
    """
    remaining = iter(values)
    return _CONVERSION.sub(lambda match: _converted(match, remaining), form)


def _converted(conversion: re.Match[str], values: Iterator[Any]) -> str:
    """Return the text of a conversion. All conversions except `%%` take the next of `values`."""
    letter = conversion["letter"]
    if letter == "%":
        return "%"
    item = _item(conversion, next(values))
    if letter in _WITH_LENGTH:
        return _whole_number(conversion, item)
    # Python has only some of C's length modifiers.
    form = conversion[0].removesuffix(conversion["length"] + letter) + letter
    if letter not in f"{_WHOLE}s" and not isfinite(item):
        form = form.replace("0", "", 1) if "0" in conversion["flags"] else form
    try:
        return form % (item,)
    except OverflowError:
        raise ValueError("%c takes the number of a character, 0 to 1114111") from None


def _whole_number(conversion: re.Match[str], number: int) -> str:
    """Return the text of a conversion of a whole number, with C's flags, width and precision."""
    flags, letter, precision = conversion["flags"], conversion["letter"], conversion["precision"]
    digits = format(abs(number), letter if letter in "xXo" else "d")
    least = 1 if precision is None else int(precision or 0)
    digits = digits.zfill(least) if number or least else ""
    start = ""
    if letter in "di":
        start = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    elif "#" in flags and letter in "xX" and number:
        start = f"0{letter}"
    elif "#" in flags and letter == "o" and not digits.startswith("0"):
        digits = f"0{digits}"
    width = int(conversion["width"] or 0)
    if "-" in flags:
        return (start + digits).ljust(width)
    if "0" in flags and precision is None:
        digits = digits.zfill(width - len(start))
    return (start + digits).rjust(width)


def _item(conversion: re.Match[str], value: Any) -> Any:
    """Return what a conversion prints for `value`: `value` itself, or a whole number made from it.

    Raises `ValueError` if the conversion cannot print the value.
    """
    letter, length = conversion["letter"], conversion["length"]
    if letter == "s":
        return value
    is_real = isinstance(value, Real)
    if not is_real:
        raise ValueError(f"{conversion[0]} takes one number, %s takes any value")
    if letter not in _WHOLE:
        return value
    if not isinstance(value, Integral) and (letter in "xXoc" or not isfinite(value)):
        raise ValueError(f"{conversion[0]} takes a whole number, not {value:g}")
    number = int(value)
    if letter == "c" and 0xD800 <= number <= 0xDFFF:  # halves of a pair in UTF-16
        raise ValueError(f"%c takes the number of a character, and {number} is a surrogate's")
    if length in _CUT:
        number = _low_bits(number, _CUT[length], letter in _BITS)
    return _bits_of(number) if letter in _BITS else number


def _low_bits(value: int, bits: int, is_unsigned: bool) -> int:
    """Return the number in the low bits of `value`, unsigned or signed."""
    low = value & (1 << bits) - 1
    return low if is_unsigned or not low >> bits - 1 else low - (1 << bits)


def _bits_of(value: int) -> int:
    """Return a signed value as an unsigned number of 32 bits, or of 64 if it needs them."""
    bits = 32 if value >= -(1 << 31) else 64
    return value & (1 << bits) - 1 if value < 0 else value
