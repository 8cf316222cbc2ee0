"""Sequences: codes and functions that the circuits of a row share to execute steps.

The module has names for the codes in instructions, decodes instructions, creates steps that have
not started, and computes the masks of the blocks that a step uses. It also computes which slice of
a segment each PE gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.state import LOADER, MAC, SFU, STORE, WAITING, Op, Packet, Shape
from macaw.emu.waits import NEVER
from macaw.isa.codec import Decoded, decode
from macaw.isa.pe import (
    CORE,
    DESTINATIONS,
    FORMS,
    FUNCTIONS,
    INSTRUCTION_BITS,
    MODES,
    SEGMENT_TYPES,
    SEQUENCE,
    STATES,
)

MEMBERS = tuple(member.name for member in SEQUENCE.members)
WEIGHTS, ACTIVATIONS_SEGMENT, PSUMS, _SEQUENCE, SCALES, TABLE_SEGMENT = range(len(SEGMENT_TYPES))
LD_WEIGHTS, LD_ACTIVATIONS, LD_PSUMS, LD_BOTH = range(len(DESTINATIONS))
NONSF, ACTIVATION, REDUCE, REQUANTISE = range(len(FUNCTIONS))
# What happens to the weights at a loopback.
FIFO, ROTATION, WINDOW = range(len(STATES))
BROADCAST, SLICED, BY_CLUSTER, BY_PE = range(len(MODES))
RECORDS, COMPRESS, DENSE = range(len(FORMS))


# The unit that executes each row of macaw.isa.pe.INSTRUCTIONS.
UNIT_OF = {"mac": MAC, "ld": LOADER, "st": STORE, "spu": SFU}


@lru_cache(maxsize=4096)
def decode_word(word: int) -> Decoded:
    """Return the instruction that a word of a sequence encodes. Raises `DecodeError`."""
    return decode(CORE, word, INSTRUCTION_BITS)


def make_op(
    place: int,
    name: str,
    unit: int,
    *,
    base: int = 0,
    stride: int = 0,
    function: int = -1,
    lane: int = 0,
    implied: tuple[int, int] | None = None,
    chained: int = -1,
    sums: int = 0,
    blocks: int = 0,
    writes: int = 0,
    segments: Sequence[int] = (),
) -> Op:
    """Return a new step, which has not started; the arguments are fields of `Op`."""
    return Op(
        place=place,
        name=name,
        function=function,
        iteration=0,
        base=base,
        stride=stride,
        unit=unit,
        lane=lane,
        state=WAITING,
        start=NEVER,
        end=NEVER,
        reads=0,
        writes=writes,
        sums=sums,
        blocks=blocks,
        chained=chained,
        freed=NEVER,
        implied=implied,
        segments=list(segments),
        received=0,
        first=NEVER,
        last=NEVER,
        beats=[],
    )


def block_mask(start: int, end: int, size: int) -> int:
    """Return the mask of the blocks that contain entries `start` to `end` - 1.

    A block has `size` entries.
    """
    if end <= start:
        return 0
    return (1 << (end - 1) // size + 1) - (1 << start // size)


def takes_weights(op: Op) -> bool:
    """Return whether a step is an ld that takes weights."""
    return op["unit"] == LOADER and op["function"] in (LD_WEIGHTS, LD_BOTH)


def slices(shape: Shape, mode: int, clusters: int) -> int:
    """Return the number of slices of a segment that `clusters` clusters of a row get.

    `mode` says how the segment is sliced.
    """
    if mode == BROADCAST:
        return 1
    if mode == SLICED:
        return clusters * shape.pes
    return clusters if mode == BY_CLUSTER else shape.pes


def slices_of(shape: Shape, cluster: int, packet: Packet, segment: int) -> NDArray[np.intp]:
    """Return the number of the slice that each PE of a cluster gets, of shape (PEs,).

    The slices are those of segment number `segment` of `packet`.
    """
    mode, pes = packet["segments"][segment]["mode"], np.arange(shape.pes)
    rank = packet["clusters"].index(cluster)
    if mode == BROADCAST:
        return np.zeros_like(pes)
    if mode == SLICED:
        return rank * shape.pes + pes
    return np.full_like(pes, rank) if mode == BY_CLUSTER else pes
