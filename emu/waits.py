"""Waits as data: what a core waits for, and since when."""

from __future__ import annotations

from typing import NamedTuple

NEVER = 1 << 62  # the time of a core that waits or idles


class Waiting(NamedTuple):
    """What a core waits for; the deadlock report and the command `why-stalled` show it."""

    on: str  # what would end it, in the program's words: `dma.wait 3`, `a read of unit 0`
    since: int  # the cycle in which it began
    cores: int  # mask of the core numbers whose change wakes it; 0: its own port or timer
