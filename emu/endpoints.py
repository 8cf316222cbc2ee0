"""Endpoints: the memory accesses of a core as the arbiter sees them, without loads and stores."""

from __future__ import annotations

from abc import abstractmethod

from macaw.emu.agents import Agent
from macaw.isa.common import TRAFFIC

COUNTS = tuple(row.name for row in TRAFFIC)


class Requester(Agent):
    """A core that requests beats of on-chip memory and takes the answers."""

    @abstractmethod
    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take the answer to the beat that the core has requested at `port`.

        The arbiter has granted the request in cycle `time`. `data` has the bytes that the beat read
        from its ranges, in their order; it is empty for a write. For a read, `ready` is the first
        cycle in which the core may use the data: `time` + mem.onchip_latency. For a write, `ready`
        is the first cycle in which other accesses see the effect: `time` + 1.

        If the core has waited for the answer, this method sets `self.time` to `time` + 1 or later.
        The core must not request a new beat in this method. It may do so in its next `advance`,
        from cycle `time` + 1 on.
        """


class Endpoint:
    """A core's end of the memory system: its traffic counts, and its number among all endpoints.

    The number is `place`. Of requesters that had their last grant in the same cycle, the arbiter
    first serves the one with the lowest number.
    """

    __slots__ = ("core", "instruction", "place", *COUNTS)

    reads: int
    reads_blocked: int
    writes: int
    writes_blocked: int
    external_reads: int
    external_writes: int
    external_partial: int
    external_blocked: int

    def __init__(self, core: Requester) -> None:
        self.core = core
        # its index among all endpoints, which are sorted by core number, then by creation
        self.place = -1
        self.instruction: int | None = None  # number of the accessing instruction; None: the latest
        self.clear()

    def clear(self) -> None:
        """Set all counts to 0."""
        for name in COUNTS:
            setattr(self, name, 0)

    def counts(self) -> dict[str, int]:
        """Return the traffic by the names of `macaw.isa.common.TRAFFIC`."""
        return {name: getattr(self, name) for name in COUNTS}
