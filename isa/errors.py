"""The base class of errors that a user can correct: in a source, a file, a device, an argument."""

from __future__ import annotations

from typing import Any


class MacawError(Exception):
    """An error that the user can correct; `hint` says how, if that is known.

    `macaw.MacawError` is this class. It catches every error that the public functions raise on
    purpose.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how `pickle` and `copy` make a copy: without `__init__`, as classes differ in it."""
        return _make_copy, (type(self), self.args), vars(self)


def _make_copy(kind: type[MacawError], arguments: tuple[Any, ...]) -> MacawError:
    return kind.__new__(kind, *arguments)
