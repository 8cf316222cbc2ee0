"""The error that the lowering raises."""

from __future__ import annotations

from macaw.isa.errors import MacawError


class LowerError(MacawError, ValueError):
    """The operation is invalid, or does not fit the device; `hint` says what is possible."""
