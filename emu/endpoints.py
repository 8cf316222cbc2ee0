"""Endpoints: a core's end of the memory system as the arbiter knows it, and how it is answered."""

from __future__ import annotations

from abc import abstractmethod

from macaw.emu.agents import Agent
from macaw.isa.common import TRAFFIC

COUNTS = tuple(row.name for row in TRAFFIC)


class Requester(Agent):
    """An agent that requests beats of memory."""

    @abstractmethod
    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take the answer to the beat that `port` requested, done at the end of cycle `time`.

        `data` is what was read (all ranges in their order), empty for a write. `ready` is the
        first cycle in which the data may be used (`time` + mem.onchip_latency), or
        in which a write's effect is visible (`time` + 1). A core that waited sets `self.time`
        here, to `time` + 1 at least. `port` is free again: the core's next `advance`, not this
        method, may request a new beat, from `time` + 1 on.
        """


class Endpoint:
    """Whose end it is, its place in the arbiter's line, and the counts of its traffic."""

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
        self.place = -1  # in the order of all ports: by core number, then by creation
        self.instruction: int | None = None  # whose accesses these are, for the trace
        self.clear()

    def clear(self) -> None:
        """Set all counts to 0."""
        for name in COUNTS:
            setattr(self, name, 0)

    def counts(self) -> dict[str, int]:
        """Return the traffic by the names of `macaw.isa.common.TRAFFIC`."""
        return {name: getattr(self, name) for name in COUNTS}
