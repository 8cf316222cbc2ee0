"""Makes the texts that `dprintf` points print, from expressions and a format as in C's printf."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from macaw.debugger.expressions import compile_expression
from macaw.debugger.point import Point, PointError

if TYPE_CHECKING:
    from macaw.debugger.debuggee import Debuggee
    from macaw.debugger.places import Place

WIDEST = 1000  # the greatest width and precision of a conversion
_CONVERSION = re.compile(r"%[-#0 +]*(\d*|\*)(?:\.(\d+|\*))?([a-zA-Z%])")
_BITS = ("x", "X", "o")


def check_format(form: str) -> None:
    """Raise `PointError` for a format that could print too much.

    Such a format has a conversion that is wider than `WIDEST`, or that takes its width from a
    value.
    """
    for match in _CONVERSION.finditer(form):
        for width in filter(None, match.groups()[:2]):
            if width == "*" or len(width) > 9 or int(width) > WIDEST:
                raise PointError(f"{match[0]}: a width is a number, {WIDEST} at most")


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
    letters = [match[3] for match in _CONVERSION.finditer(form) if match[3] != "%"]
    letters += [""] * (len(values) - len(letters))
    items = (
        _bits_of(value) if letter in _BITS and isinstance(value, int) else value
        for letter, value in zip(letters, values, strict=False)
    )
    try:
        return form % tuple(items)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None


def _bits_of(value: int) -> int:
    """Return a register's signed value as an unsigned number of 32 or 64 bits."""
    bits = 32 if value >= -(1 << 31) else 64
    return value & (1 << bits) - 1 if value < 0 else value
