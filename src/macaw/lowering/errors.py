"""The error of the lowering."""

from __future__ import annotations

from macaw.isa.errors import MacawError


class LowerError(MacawError, ValueError):
    """An operation that is invalid or does not fit the device; `hint` says what would work."""
