"""The reference engine of islands, which does one repeat of an operation at a time."""

from __future__ import annotations

from macaw.emu.fim.core import IslandCore


class ReferenceIsland(IslandCore):
    """An island that does one repeat at a time, because its `max_batch` stays 1."""
