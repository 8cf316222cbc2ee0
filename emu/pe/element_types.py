"""Element types: the types of the data in a row, and which types a mac may multiply.

A sequence has one type for its weights and one for its activations. A segment names its type, or
has the type of the sequence that takes it. Queues and buffers store the type of what was loaded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.sequence import ACTIVATIONS_SEGMENT, WEIGHTS
from macaw.emu.pe.state import Packet, Segment, Shape
from macaw.emu.state import State
from macaw.isa.pe import BLOCKS, DTYPES, ELEMENTS

WEIGHTS_TYPE, ACTIVATIONS_TYPE = 0, 1  # indices in the state's field `types`, last axis
_PLACE = {WEIGHTS: WEIGHTS_TYPE, ACTIVATIONS_SEGMENT: ACTIVATIONS_TYPE}


def named_type(segment: Segment, types: tuple[int, int]) -> int:
    """Return the element type of weights or activations, as an index in ELEMENTS.

    `types` has the two types of the sequence that takes the segment.
    """
    if segment["element"]:
        return segment["element"] - 1
    return types[_PLACE[segment["type"]]]


def segment_type(clusters: list[Cluster], packet: Packet, number: int) -> int:
    """Return the element type of segment `number` of a packet, as an index in ELEMENTS.

    The segment has weights or activations. `clusters` has all clusters of the row. The caller
    ensures that the runs of the packet are in the buffers whose sequences take the segment. Raises
    `Fault` if the segment names no type and the sequences of the packet's clusters have different
    types.
    """
    segment = packet["segments"][number]
    lead = clusters[packet["clusters"][0]]
    if segment["element"]:
        return segment["element"] - 1
    if not lead.shape.mixes:
        return ELEMENTS.index(lead.shape.element)
    place = _PLACE[segment["type"]]
    found = {
        int(clusters[c].state.types[c, clusters[c].run_for(packet)["buffer"], place])
        for c in packet["clusters"]
    }
    if len(found) > 1:
        names = " and ".join(ELEMENTS[x] for x in sorted(found))
        raise Fault(
            "segment mismatch",
            f"segment {number} gives no element type, and its clusters expect {names}",
            {"segment": number},
            address=lead.shape.address(packet["address"]),
        )
    return found.pop()


def dtype_of(number: int) -> str:
    """Return the NumPy type of the element type with index `number` in ELEMENTS."""
    return DTYPES[ELEMENTS[number]]


def mark_blocks(
    loaded: NDArray[Any], first: NDArray[Any], last: NDArray[Any], joins: NDArray[Any], number: int
) -> None:
    """Record that blocks `first` to `last` - 1 were loaded with elements of type `number`.

    `loaded`, of shape (..., blocks), has for each block of an input buffer the mask of the element
    types in it. `joins` says whether the load began inside block `first`, so that the block keeps
    its earlier elements. `first`, `last` and `joins` have shape (...).
    """
    block, bit = np.arange(BLOCKS), 1 << number
    start = first[..., None]
    filled = (block >= start) & (block < last[..., None])
    keeps = filled & (block == start) & joins[..., None]
    loaded[filled & ~keeps] = bit
    loaded[keeps] |= bit


def check_mac(
    state: State, shape: Shape, cluster: int, buffer: int, base: NDArray[Any], reach: int
) -> None:
    """Raise `Fault` if a mac would multiply numbers of other types than its sequence has.

    The mac runs in the buffer `buffer` of a cluster. `base` (PEs,) has the bases of the mac;
    `reach` is the greatest index of its weights. The function checks the run's weights, and each
    block from the base up to the base plus `reach`.
    """
    if not shape.mixes:
        return
    weights, activations = state.types[cluster, buffer].tolist()
    foreign = int(state.queue_types[cluster, buffer]) & ~(1 << weights)
    if foreign:
        raise _mismatch(cluster, buffer, "weights", foreign, weights)
    if reach < 0:
        return
    size, block = shape.input_block, np.arange(BLOCKS)
    used = (block >= (base // size)[:, None]) & (block <= ((base + reach) // size)[:, None])
    found = np.where(used, state.block_types[cluster] & ~(1 << activations), 0)
    if found.any():
        raise _mismatch(cluster, buffer, "activations", int(found[found != 0][0]), activations)


def _mismatch(cluster: int, buffer: int, what: str, mask: int, wanted: int) -> Fault:
    names = " and ".join(name for x, name in enumerate(ELEMENTS) if mask >> x & 1)
    return Fault(
        "type mismatch",
        f"cluster {cluster}: the {what} are {names}, the sequence in buffer {buffer} multiplies"
        f" {ELEMENTS[wanted]}",
        {"cluster": cluster, "buffer": buffer, "loaded": names, "type": ELEMENTS[wanted]},
    )
