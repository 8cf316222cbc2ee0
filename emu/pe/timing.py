"""Timing rules of the array: when steps start and end.

A cycle is a cycle of the row's clock. The start of an instruction is the first cycle in which it
works, its end is the last one. A step that waits for this instruction starts after its end.
docs/timing-pe.md explains each rule.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from macaw.isa.pe import ACCUMULATORS

# one cycle, or an array with a cycle for each cluster
Cycles = TypeVar("Cycles", int, NDArray[np.int64])

ID = 1  # cycles for decoding
FO = 1  # cycles for fetching operands
SU = 1  # cycles of the scalar unit
WB = 1  # cycles for writing operands back


def first_cycle(dispatched: int, latency: int, memory_latency: int, divider: int) -> int:
    """Return the row's cycle in which a dispatched list sends its first beat.

    `dispatched` is the device cycle of the dispatch; a cycle of the row has `divider` device
    cycles. After the dispatch, the on-chip unit fetches the first packet. This takes `latency`
    device cycles, but at least the latency of on-chip memory, `memory_latency`.
    """
    return -(-(dispatched + max(latency, memory_latency)) // divider)


def first_start(accepted: int) -> int:
    """Return the first cycle in which the first instruction of a run may start.

    `accepted` is the cycle in which the command byte was on the bus.
    """
    return accepted + ID + FO + 1


def write_back(end: Cycles) -> Cycles:
    """Return the cycle of the stage WB, which writes the operands that the next iteration fetches.

    These are operands of an instruction that ended in cycle `end`, in a sequence with four stages.
    """
    return end + SU + WB


def next_start(write_back_cycle: Cycles) -> Cycles:
    """Return the first cycle in which an instruction may start again.

    Its operands are fetched (stage FO) in the cycle after they are written back (stage WB).
    """
    return write_back_cycle + FO + 1


def ld_end(last_beat: int, start: int) -> int:
    """Return the last cycle of a load from the bus.

    `last_beat` is the cycle of the last beat, `start` the first cycle of the load. The loading unit
    makes the bitmask in the cycle after the last beat.
    """
    return max(last_beat + 1, start)


def psums_end(start: Cycles) -> Cycles:
    """Return the last cycle of a load of partial sums from the output queue.

    The load starts in cycle `start`, and loads one of its four elements in each cycle.
    """
    return start + ACCUMULATORS - 1


def move_end(start: Cycles, results: int) -> Cycles:
    """Return the last cycle of a move of results from accumulators or past the SFU.

    The move starts in cycle `start`; each PE moves one result in a cycle.
    """
    return start + results - 1


def sfu_end(start: int, results: int, rate: int, latency: int) -> int:
    """Return the last cycle of a special function.

    The function starts in cycle `start`. In each cycle `rate` of its `results` enter the unit; each
    result takes `latency` cycles.
    """
    return start - (-results // rate) - 1 + latency - 1
