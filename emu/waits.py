"""Waits as data: what a core waits for, and since when."""

from __future__ import annotations

from macaw.isa.typed_records import NamedTuple

NEVER = 1 << 62  # the time of a core that waits or idles


class Waiting(NamedTuple):
    """What a core waits for. The deadlock report and the command `why-stalled` show it."""

    on: str  # a phrase for what would end it: `dma.wait 3`, `a read of unit 0`
    since: int  # the cycle in which it began
    cores: int  # mask of the cores whose change wakes it; 0: its own port or timer
