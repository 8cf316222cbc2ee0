"""When things begin and end around the PEs (spec pe.md, "Timing around the PEs").

A cycle is a row's clock cycle. "Starts at s" means that s is the first cycle in
which an instruction does something, "ends at e" that e is the last one; whatever waited
for it starts at e + 1 at the earliest. docs/timing-pe.md explains each rule.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from macaw.isa.pe import ACCUMULATORS

Cycles = TypeVar("Cycles", int, NDArray[np.int64])  # a cycle, or one of each cluster

ID = 1  # decoding takes a cycle
FO = 1  # fetching operands takes a cycle
SU = 1  # the scalar unit takes a cycle
WB = 1  # and writing operands back another one


def first_cycle(dispatched: int, latency: int, memory_latency: int, divider: int) -> int:
    """The row's cycle of the first beat, for a dispatch at the device's cycle `dispatched`.

    The unit fetches the first packet meanwhile, which takes memory's latency at least.
    """
    return -(-(dispatched + max(latency, memory_latency)) // divider)


def first_start(accepted: int) -> int:
    """The first instruction of a run whose command byte was on the bus at `accepted`."""
    return accepted + ID + FO + 1


def write_back(end: Cycles) -> Cycles:
    """The cycle of WB of an instruction that ended at `end`, with four stages."""
    return end + SU + WB


def next_start(written: Cycles) -> Cycles:
    """The next issue of an instruction: it fetches after WB, without forwarding."""
    return written + FO + 1


def ld_end(last_beat: int, start: int) -> int:
    """A load from the bus: the bitmask is made in the cycle after the last beat."""
    return max(last_beat + 1, start)


def psums_end(start: int) -> int:
    """A load of partial sums from the output queue: an element an accumulator, one a cycle."""
    return start + ACCUMULATORS - 1


def move_end(start: Cycles, results: int) -> Cycles:
    """Results from accumulators, or past the SFU: one a cycle a PE."""
    return start + results - 1


def sfu_end(start: int, results: int, rate: int, latency: int) -> int:
    """`results` of a cluster: `rate` enter a cycle, each is in the SFU for `latency` cycles."""
    return start - (-results // rate) - 1 + latency - 1
