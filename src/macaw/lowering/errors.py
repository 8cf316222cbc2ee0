"""What cannot be lowered."""

from __future__ import annotations

from macaw.isa.errors import MacawError


class LowerError(MacawError, ValueError):
    """An operation that does not fit the device, or that is none; `hint` says what would do."""
