"""The reference engine of fim: one repeat of an operation at a time."""

from __future__ import annotations

from macaw.emu.fim.core import IslandCore


class ReferenceIsland(IslandCore):
    """An island that does one repeat at a time: `max_batch` stays 1."""
