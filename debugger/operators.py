"""Computes operators and functions of expressions for operands of any types.

They raise `ValueError` for an operand that they do not take, and `ZeroDivisionError`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from macaw.asm.expressions import BINARY, UNARY
from macaw.asm.literals import wrap
from macaw.debugger.values import array_of

SET_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "sum": lambda values: np.sum(values, dtype=_wide(values)),
    "max": np.max,
    "min": np.min,
    "mean": lambda values: np.mean(values, dtype=np.float64),
    "any": lambda values: -int(np.any(values)),
    "all": lambda values: -int(np.all(values)),
    "count": lambda values: int(np.count_nonzero(values)),
    "len": np.size,
    "abs": lambda values: np.abs(_widen(values)),
}
"""Functions of all values of their arguments together: sets of places, and arrays.

Only `abs` is a function of each value by itself.
"""
_WHOLE = ("&", "|", "^", "<<", ">>", "~")  # these operators take only whole numbers
_NUMERIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.true_divide, "%": np.fmod,
    "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor,
    "<<": np.left_shift, ">>": np.right_shift,
}  # fmt: skip
_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": np.equal, "!=": np.not_equal, "<>": np.not_equal, "<": np.less, "<=": np.less_equal,
    ">": np.greater, ">=": np.greater_equal,
}  # fmt: skip


def binary(sign: str, left: Any, right: Any) -> Any:
    """Return the result of the operator `sign` for operands of any types."""
    if isinstance(left, int) and isinstance(right, int):
        if sign in "/%" and right == 0:
            raise ZeroDivisionError
        if sign in ("<<", ">>") and not 0 <= right < 64:
            return 0
        return wrap(BINARY[sign](left, right))
    left, right = _widen(left), _widen(right)
    if sign in _WHOLE and "f" in (left.dtype.kind, right.dtype.kind):
        raise ValueError(f"{sign} takes whole numbers")
    if sign in _NUMERIC:
        with np.errstate(all="ignore"):
            return _plain(_NUMERIC[sign](left, right))
    if sign in ("&&", "||"):
        both = np.logical_and if sign == "&&" else np.logical_or
        return _plain(both(left, right).astype(np.int64))
    return _plain(-_COMPARISONS[sign](left, right).astype(np.int64))


def unary(sign: str, value: Any) -> Any:
    """Return the result of the operator `sign` for an operand of any type."""
    if isinstance(value, int):
        return wrap(UNARY[sign](value))
    value = _widen(value)
    if sign == "!":
        return _plain((value == 0).astype(np.int64))
    if sign in _WHOLE and value.dtype.kind == "f":
        raise ValueError(f"{sign} takes whole numbers")
    return _plain({"-": np.negative, "+": np.positive, "~": np.invert}[sign](value))


def call(function: str, *values: Any) -> Any:
    """Return the result of one of `SET_FUNCTIONS` for all `values` together."""
    parts = [_numbers_of(value) for value in values]
    whole = parts[0] if len(parts) == 1 else np.concatenate([part.ravel() for part in parts])
    if not whole.size and function in ("max", "min", "mean"):
        raise ValueError(f"{function} of nothing")
    with np.errstate(all="ignore"):
        return _plain(SET_FUNCTIONS[function](whole))


def whole_number(what: str, value: Any) -> int:
    """Return `value` as a whole number. `what` names it in the error if it is none."""
    array = array_of(value)
    if array.ndim or array.dtype.kind not in "iu":
        raise ValueError(f"{what} is a whole number")
    return int(array)


def _numbers_of(value: Any) -> np.ndarray[Any, Any]:
    """Return the numbers in `value` as an array of their own type. Raises `ValueError`."""
    array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else array_of(value)
    if array.dtype.kind not in "iubf":
        raise ValueError("that is no number")
    return array


def _wide(values: np.ndarray[Any, Any]) -> np.dtype[Any]:
    """Return the 64-bit type, real or whole, in which sums of `values` are computed."""
    return np.dtype(np.float64 if values.dtype.kind == "f" else np.int64)


def _widen(value: Any) -> Any:
    """Return the numbers in `value` as an array of 64-bit elements."""
    array = _numbers_of(value)
    return array.astype(_wide(array))


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return array.item() if array.ndim == 0 else array
