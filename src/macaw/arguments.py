"""What the arguments of public functions may be: a kind for each, and one clear sentence if not.

`@checked(rows=optional(whole(1)))` looks at the arguments that a call gives, before the function
is entered, and raises `InputError` that names the argument. A kind is a function of the value that
says what it should have been, or None if it is good. Whether a word, a shape or a
file is the right one is the function's own business.
"""

from __future__ import annotations

import inspect
import numbers
import os
import sys
from collections.abc import Callable, Collection, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from macaw.errors import InputError

P = ParamSpec("P")
R = TypeVar("R")
Kind = Callable[[Any], str | None]
MOST_CHARACTERS = 60  # characters of a value in a message


def check_arguments(**kinds: Kind) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Check the arguments of a function: a kind for each parameter but `self`."""

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


def _labelled_values(parameter: inspect.Parameter, value: Any) -> list[tuple[str, Any]]:
    """What a parameter was given, with the name to call it by: each value of `*name`."""
    if parameter.kind is parameter.VAR_POSITIONAL:
        return [(f"{parameter.name}[{index}]", item) for index, item in enumerate(value)]
    if parameter.kind is parameter.VAR_KEYWORD:
        return list(value.items())
    return [(parameter.name, value)]


def _quote(value: object) -> str:
    """A value in a message: short and printable; of what is no plain value, its type alone."""
    if not isinstance(value, str | bytes | numbers.Number | tuple | list | dict | None):
        return f"a value of type {type(value).__name__}"
    try:
        text = ascii(value)
    except ValueError:  # Python writes no number of thousands of digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 3]}..."


def python_numbers(value: Any) -> Any:
    """A value with its whole numbers as Python's: NumPy's have an end, and overflow.

    For None, strings, numbers, and these in tuples, lists and mappings.
    """
    if isinstance(value, Mapping):
        return {key: python_numbers(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return tuple(map(python_numbers, value))
    return int(value) if isinstance(value, numbers.Integral) else value


# Kinds


def anything(_value: Any) -> None:
    """A value that the function looks at itself."""


def optional(kind: Kind) -> Kind:
    """None, or a value of a kind."""
    return lambda value: None if value is None else kind(value)


def either(description: str, *kinds: Kind) -> Kind:
    """A value of any of these kinds."""
    return lambda value: None if any(kind(value) is None for kind in kinds) else description


def word(value: Any) -> str | None:
    """A string."""
    return None if isinstance(value, str) else "a string"


def flag(value: Any) -> str | None:
    """True or False."""
    return None if isinstance(value, bool) else "True or False"


def number(value: Any) -> str | None:
    """A number that is real."""
    good = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return None if good else "a number"


def integer(value: Any) -> str | None:
    """A whole number, of Python or NumPy."""
    good = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return None if good else "a whole number"


def whole(least: int) -> Kind:
    """A whole number from `least`."""

    def kind(value: Any) -> str | None:
        good = integer(value) is None and value >= least
        return None if good else f"a whole number from {least}"

    return kind


def pair(least: int) -> Kind:
    """Two whole numbers from `least`."""
    item = whole(least)

    def kind(value: Any) -> str | None:
        good = isinstance(value, tuple | list) and len(value) == 2
        return None if good and not any(map(item, value)) else f"two whole numbers from {least}"

    return kind


def one_or_pair(least: int) -> Kind:
    """A whole number from `least` for both directions, or two: vertical, horizontal."""
    return either(
        f"a whole number from {least}, or two (vertical, horizontal)", whole(least), pair(least)
    )


def path(value: Any) -> str | None:
    """The name of a file."""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    good = isinstance(value, str) and "\0" not in value
    return None if good else "the path of a file"


def function(value: Any) -> str | None:
    """A function."""
    return None if callable(value) else "a function"


def instance(description: str, home: str) -> Kind:
    """An object of the class `module:Class`. The module is looked up, not imported."""
    module, _, name = home.partition(":")

    def kind(value: Any) -> str | None:
        # Who has an object of a class has loaded its module.
        loaded_module = sys.modules.get(module)
        return (
            None
            if loaded_module and isinstance(value, getattr(loaded_module, name))
            else description
        )

    return kind


def sequence(kind: Kind, description: str) -> Kind:
    """Several values of a kind; no string, which is a sequence of letters."""

    def several(value: Any) -> str | None:
        good = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return None if good and not any(map(kind, value)) else description

    return several


def mapping(kind: Kind, description: str) -> Kind:
    """Values of a kind by name."""

    def by_name(value: Any) -> str | None:
        good = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
        return None if good and not any(map(kind, value.values())) else description

    return by_name


def array(value: Any) -> str | None:
    """Numbers, in whatever NumPy makes an array of; no masked array, whose mask would be lost."""
    import numpy as np

    if isinstance(value, np.ma.MaskedArray):
        return "an array without a mask (`filled` makes one)"
    try:
        kind = np.asarray(value).dtype.kind
    except (TypeError, ValueError, OverflowError):
        kind = "O"
    return None if kind in "biuf" else "an array of numbers"


# Kinds that several modules ask for

device = either(
    "the name or the file of a device, or a Configuration",
    path,
    instance("a Configuration", "macaw.isa.config:Configuration"),
)
program = instance("a Program", "macaw.asm.program:Program")
program_or_path = either("a Program or the path of a file", program, path)
arrays = mapping(array, "arrays of numbers by name")
seed = whole(0)
