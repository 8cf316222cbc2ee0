"""Checks the arguments of public functions, and describes a wrong argument in one clear sentence.

`@check_arguments(rows=optional(whole(1)))` checks the arguments of each call before the function is
executed. For a wrong argument the decorator raises `InputError` with the argument's name. A kind is
a function that takes a value. It returns None if the value is good, else a description of the
values that it accepts. Kinds check types and ranges; the function itself checks whether a name, a
shape or a file exists.
"""

from __future__ import annotations

import inspect
import numbers
import os
import sys
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from macaw.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
Kind = Callable[[Any], str | None]
MOST_CHARACTERS = 60  # characters of a value in a message


def check_arguments(**kinds: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that checks the arguments of each call of a function.

    `kinds` has a kind for each parameter of the function except `self`.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        missing = signature.parameters.keys() - kinds.keys() - {"self"}
        if missing or kinds.keys() - signature.parameters.keys():
            raise TypeError(f"{function.__name__}: kinds and parameters differ: {missing}")

        @wraps(function)
        def wrapper(*positional: P.args, **keywords: P.kwargs) -> R:
            values = signature.bind(*positional, **keywords).arguments
            for name, kind in kinds.items():
                if name not in values:
                    continue
                rows = _labelled_values(signature.parameters[name], values[name])
                for label, value in rows:
                    description = kind(value)
                    if description is not None:
                        raise InputError(f"{label} is {description}, not {_quote(value)}")
            return function(*positional, **keywords)

        return wrapper

    return decorate


def check_values(values: Mapping[str, Any], kinds: Mapping[str, Kind]) -> None:
    """Raise `InputError` for the first of `values` that is not of the kind with the same name."""
    for name, kind in kinds.items():
        description = kind(values[name])
        if description is not None:
            raise InputError(f"{name} is {description}, not {_quote(values[name])}")


def _labelled_values(parameter: inspect.Parameter, value: Any) -> list[tuple[str, Any]]:
    """Return pairs (name in messages, value) for the value of a parameter.

    A parameter `*rows` with the value (4, 8) gives ("rows[0]", 4) and ("rows[1]", 8). A parameter
    `**options` gives a pair for each keyword.
    """
    if parameter.kind is parameter.VAR_POSITIONAL:
        return [(f"{parameter.name}[{index}]", item) for index, item in enumerate(value)]
    if parameter.kind is parameter.VAR_KEYWORD:
        return list(value.items())
    return [(parameter.name, value)]


def _quote(value: object) -> str:
    """Return a short printable text for a value; for an unusual object, the name of its type.

    For an array, the text also has the type of its elements.
    """
    if not isinstance(value, str | bytes | numbers.Number | tuple | list | dict | None):
        text = f"a value of type {type(value).__name__}"
        return f"{text} with dtype {value.dtype}" if hasattr(value, "dtype") else text
    try:
        text = " ".join(ascii(value).split())  # arrays are printed in several lines
    except ValueError:  # Python refuses to print numbers of thousands of digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


def python_numbers(value: Any) -> Any:
    """Return `value` with Python's numbers in place of NumPy's, which can overflow.

    `value` is None, True, False, a string or a number, or a tuple, list or mapping of these. A
    string, True or False of NumPy becomes Python's, too.
    """
    value = _python_scalar(value)
    if isinstance(value, Mapping):
        return {key: python_numbers(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(python_numbers, value))
    if isinstance(value, bool):
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    return float(value) if isinstance(value, numbers.Real) else value


def _python_scalar(value: Any) -> Any:
    """Return the object of Python for a number, string, True or False of NumPy."""
    return value.item() if getattr(value, "shape", None) == () and hasattr(value, "item") else value


# Kinds


def anything(_value: Any) -> None:
    """Return None for any value: the kind of an argument that `check_arguments` does not check."""


def optional(kind: Kind) -> Kind:
    """Return a kind that accepts None or a value of `kind`."""
    return lambda value: None if value is None else kind(value)


def either(description: str, *kinds: Kind) -> Kind:
    """Return a kind that accepts a value of any of the `kinds`.

    `description` names these values in error messages.
    """
    return lambda value: None if any(kind(value) is None for kind in kinds) else description


def word(value: Any) -> str | None:
    """Return None if `value` is a string, else "a string" for the error message."""
    return None if isinstance(value, str) else "a string"


def file_name(value: Any) -> str | None:
    """Return None for the name of a file without a folder, else a text for the error message."""
    good = isinstance(value, str) and Path(value).name == value and "\0" not in value
    return None if good else "the name of a file without its folder"


def flag(value: Any) -> str | None:
    """Return None if `value` is True or False, else "True or False" for the error message."""
    return None if isinstance(_python_scalar(value), bool) else "True or False"


def number(value: Any) -> str | None:
    """Return None if `value` is a real number, else "a number" for the error message."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return None if good else "a number"


def integer(value: Any) -> str | None:
    """Return None for an integer of Python or NumPy, else "a whole number" for the message."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return None if good else "a whole number"


def whole(least: int) -> Kind:
    """Return a kind that accepts a whole number of at least `least`."""

    def kind(value: Any) -> str | None:
        good = integer(value) is None and value >= least
        return None if good else f"a whole number from {least}"

    return kind


def pair(least: int) -> Kind:
    """Return a kind that accepts two whole numbers of at least `least`."""
    item = whole(least)

    def kind(value: Any) -> str | None:
        good = isinstance(value, tuple | list) and len(value) == 2
        return None if good and not any(map(item, value)) else f"two whole numbers from {least}"

    return kind


def four(least: int) -> Kind:
    """Return a kind that accepts four whole numbers of at least `least`."""
    item = whole(least)

    def kind(value: Any) -> str | None:
        good = isinstance(value, tuple | list) and len(value) == 4
        return None if good and not any(map(item, value)) else f"four whole numbers from {least}"

    return kind


def one_or_pair(least: int) -> Kind:
    """Return a kind that accepts one whole number of at least `least`, or two such numbers.

    Of two numbers, the first is vertical and the second horizontal.
    """
    return either(
        f"a whole number from {least}, or two (vertical, horizontal)", whole(least), pair(least)
    )


def path(value: Any) -> str | None:
    """Return None if `value` can be a file's path, else "the path of a file" for the message."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    good = isinstance(value, str) and "\0" not in value
    return None if good else "the path of a file"


def function(value: Any) -> str | None:
    """Return None if `value` can be called, else "a function" for the error message."""
    return None if callable(value) else "a function"


def instance(description: str, home: str) -> Kind:
    """Return a kind that accepts an object of the class that `home` names as `module:Class`.

    The module is not imported: an object of the class can exist only if the module is loaded.
    """
    module, _, name = home.partition(":")

    def kind(value: Any) -> str | None:
        loaded_module = sys.modules.get(module)
        return (
            None
            if loaded_module and isinstance(value, getattr(loaded_module, name))
            else description
        )

    return kind


def sequence(kind: Kind, description: str) -> Kind:
    """Return a kind that accepts a collection of values of `kind`, but not a string.

    `description` names such collections in error messages.
    """

    def several(value: Any) -> str | None:
        good = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        good = good and getattr(value, "shape", None) != ()  # NumPy does not iterate over a number
        return None if good and not any(map(kind, value)) else description

    return several


def mapping(kind: Kind, description: str) -> Kind:
    """Return a kind that accepts a mapping from names to values of `kind`.

    `description` names such mappings in error messages.
    """

    def by_name(value: Any) -> str | None:
        good = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        return None if good and not any(map(kind, value.values())) else description

    return by_name


def array(value: Any) -> str | None:
    """Return None if NumPy can convert `value` to an array of numbers, else a text for the error.

    The text is "an array of numbers". A masked array is not accepted; for it, the text says how to
    convert it.
    """
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        return "an array without a mask (`filled` makes one)"
    try:
        dtype = np.asarray(value).dtype
    except (TypeError, ValueError, OverflowError):
        dtype = np.dtype(object)
    # "bfloat16" is a type of the package ml_dtypes, which says that its kind is "V"
    known = dtype.kind in "biuf" or dtype.name == "bfloat16"
    return None if known else "an array of numbers"


# Kinds that several modules share

device = either(
    "the name or the file of a device, or a Configuration",
    path,
    instance("a Configuration", "macaw.isa.config:Configuration"),
)
program = instance("a Program", "macaw.asm.program:Program")
program_or_path = either("a Program or the path of a file", program, path)
arrays = mapping(array, "arrays of numbers by name")
seed = whole(0)
