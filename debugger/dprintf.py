"""Makes the texts that `dprintf` points print, from expressions and a format as in C's printf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from macaw.debugger.expressions import compile_expression
from macaw.debugger.point import Point, PointError

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.places import Place

WIDEST = 1000  # the greatest width and precision of a conversion
_CONVERSION = re.compile(r"%[-#0 +]*(\d*|\*)(?:\.(\d+|\*))?([a-zA-Z%])")
_BITS = ("x", "X", "o")
_WHOLE = "diuxXoc"  # letters of conversions that take a whole number
_LETTERS = f"{_WHOLE}eEfFgGs"


def check_format(form: str, count: int) -> None:
    """Raise `PointError` for a format that does not have `count` conversions, or has a wrong one.

    A conversion is wrong if no value has its letter, if it is wider than `WIDEST`, or if it takes
    its width from a value.
    """
    for match in _CONVERSION.finditer(form):
        for width in filter(None, match.groups()[:2]):
            if width == "*" or len(width) > 9 or int(width) > WIDEST:
                raise PointError(f"{match[0]}: a width is a number, {WIDEST} at most")
        if match[3] not in f"%{_LETTERS}":
            raise PointError(
                f"{match[0]} is no conversion; those are %{' %'.join(_LETTERS)} and %%"
            )
    if "%" in _CONVERSION.sub("", form):
        raise PointError("a % without a letter: %% prints the sign")
    letters = _letters(form)
    if len(letters) != count:
        has = f"{len(letters)} {'value' if len(letters) == 1 else 'values'}"
        raise PointError(f"the format takes {has}, not {count}")


def _letters(form: str) -> list[str]:
    """Return the letters of the conversions that take a value, in order."""
    return [match[3] for match in _CONVERSION.finditer(form) if match[3] != "%"]


def dprintf_text(debuggee: Debuggee, point: Point, place: Place | None) -> str:
    """Return the text that the dprintf `point` prints at the present position.

    Short names in the expressions refer to `place`, or to the focus if `place` is None. If an
    expression has no value, the text is the format with the error.
    """
    focus = (place,) if place is not None else None
    try:
        values = [compile_expression(debuggee, text, focus).value() for text in point.values]
        return format_values(point.form, values)
    except ValueError as error:
        return f"{point.form}: {error}"


def format_values(form: str, values: Sequence[Any]) -> str:
    """Return the format `form` with the values filled in.

    Raises `ValueError` if the values do not fit the format.
    """
    items = tuple(
        _item(letter, value) for letter, value in zip(_letters(form), values, strict=True)
    )
    try:
        return form % items
    except OverflowError:
        raise ValueError("%c takes the number of a character, 0 to 1114111") from None


def _item(letter: str, value: Any) -> Any:
    """Return the value that a conversion with this letter prints. Raises `ValueError`."""
    if letter == "s":
        return value
    is_real = isinstance(value, Real)
    if not is_real:
        raise ValueError(f"%{letter} takes one number, %s takes any value")
    if letter in _WHOLE and not isinstance(value, Integral):
        if letter in "xXoc" or not isfinite(value):
            raise ValueError(f"%{letter} takes a whole number, not {value:g}")
        return int(value)
    return _bits_of(int(value)) if letter in _BITS else value


def _bits_of(value: int) -> int:
    """Return a register's signed value as an unsigned number of 32 or 64 bits."""
    bits = 32 if value >= -(1 << 31) else 64
    return value & (1 << bits) - 1 if value < 0 else value
