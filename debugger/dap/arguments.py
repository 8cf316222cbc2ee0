"""Reads and checks the arguments of a request. Each function raises `RequestError`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.debugger.dap.connection import RequestError

MOST_ITEMS = 10_000  # the greatest number of items of a list
LONGEST = 1 << 16  # the greatest number of characters of a text
MOST = (1 << 53) - 1  # an editor cannot represent greater numbers exactly


def text(
    arguments: Mapping[str, Any], name: str, default: str | None = None, what: str = ""
) -> str:
    """Return the argument `name`, a text. If `default` is None, the argument is required.

    `what` is the argument's name in messages, `name` by default.
    """
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if not isinstance(value, str):
        raise RequestError(f"{what or name} must be a text")
    if len(value) > LONGEST:
        raise RequestError(f"{what or name} has more than {LONGEST:,} characters")
    return value


def whole(
    arguments: Mapping[str, Any],
    name: str,
    default: int | None = None,
    least: int = 0,
    most: int = MOST,
) -> int:
    """Return the argument `name`, a whole number from `least` to `most`.

    If `default` is None, the argument is required.
    """
    value = arguments.get(name)
    if value is None and default is not None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(f"{name} must be a whole number")
    if not least <= value <= most:
        raise RequestError(f"{name} is {least:,} to {most:,}, not {value:,}")
    return value


def flag(arguments: Mapping[str, Any], name: str, default: bool = False) -> bool:
    """Return the argument `name`, true or false; `default` if the argument is missing."""
    value = arguments.get(name)
    if value is None:
        return default
    if not isinstance(value, bool):
        raise RequestError(f"{name} must be true or false")
    return value


def record(arguments: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return the argument `name`, a JSON object; an empty object if the argument is missing."""
    value = arguments.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RequestError(f"{name} must be an object")
    return value


def texts(arguments: Mapping[str, Any], name: str) -> list[str]:
    """Return the argument `name`, a list of texts; an empty list if the argument is missing."""
    values = _items(arguments, name)
    if not all(isinstance(value, str) and len(value) <= LONGEST for value in values):
        raise RequestError(f"{name} must be a list of texts")
    return values


def records(arguments: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the argument `name`, a list of objects; an empty list if the argument is missing."""
    values = _items(arguments, name)
    if not all(isinstance(value, dict) for value in values):
        raise RequestError(f"{name} must be a list of objects")
    return values


def _items(arguments: Mapping[str, Any], name: str) -> list[Any]:
    values = arguments.get(name)
    if values is None:
        return []
    if not isinstance(values, list):
        raise RequestError(f"{name} must be a list")
    if len(values) > MOST_ITEMS:
        raise RequestError(f"{name} has more than {MOST_ITEMS:,} items")
    return values


def address(arguments: Mapping[str, Any], name: str) -> int:
    """Return the address in the argument `name`, a memory reference: 0x10000, or decimal."""
    reference = text(arguments, name)
    try:
        value = int(reference[:40], 0)
    except ValueError:
        raise RequestError(f"{name} is no address: '{reference[:40]}'") from None
    if not 0 <= value < 1 << 32:
        raise RequestError(f"{name} is no address of 32 bits: '{reference[:40]}'")
    return value
