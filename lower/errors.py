"""What cannot be lowered."""

from __future__ import annotations


class LowerError(ValueError):
    """An operation that does not fit the device, or that is none; `hint` says what would do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint
