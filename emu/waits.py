"""Waits as data: what a core waits for, and since when."""

from __future__ import annotations

from macaw.isa.typed_records import NamedTuple

NEVER = 1 << 62  # the time of a core that waits or idles


class Waiting(NamedTuple):
    """What a core waits for. The deadlock report and the command `why-stalled` show it.

    `on` is a phrase for what would end the wait, which began in cycle `since`. `cores` is the mask
    of the cores whose change wakes the core; 0 means that its own port or timer does.
    """

    on: str  # such as `dma.wait 3` or `a read of unit 0`
    since: int
    cores: int
