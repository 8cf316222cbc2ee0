"""The base class of errors that a user can correct: in a source, a file, a device, an argument."""

from __future__ import annotations


class MacawError(Exception):
    """An error that the user can correct; `hint` says how, if that is known.

    `macaw.MacawError` is this class. It catches every error that the public functions raise on
    purpose.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
