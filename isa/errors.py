"""The base of every error that is a user's to mend: of a source, a file, a device, an argument."""

from __future__ import annotations


class MacawError(Exception):
    """An error that is the user's to mend; `hint` says how, if that is known.

    `macaw.MacawError` is this class: it catches whatever the public functions raise on purpose.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint
