"""The error that the lowering raises."""

from __future__ import annotations

from macaw.isa.errors import MacawError


class LowerError(MacawError, ValueError):
    """Raised for an operation that is invalid or does not fit; `hint` says what is possible."""
