"""Predicts the contents of segments that the bus has yet to deliver to a lockstep group.

Often each iteration of a loop multiplies or adds the segments that the bus brought for it. The
later segments are in on-chip memory already, so the group (`lockstep_group`) can compute many macs
of these segments at once, or add many of these segments at once. These contents are only a
prediction, because memory may change before the bus reads them. `LockstepMacs` uses a mac
only if it reads exactly the activations that were predicted. A group adds segments in advance only
while no other core uses their half of the on-chip unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.data_loading import DataLoading
from macaw.emu.pe.element_types import dtype_of, segment_type
from macaw.emu.pe.fast.resident_weights import ResidentWeights
from macaw.emu.pe.sequence import slices, slices_of
from macaw.emu.pe.state import Packet

_FEWEST = 2  # the least number of segments for which a prediction saves time
_FORM = itemgetter("mode", "element", "length")


class ComingSegments:
    """The segments of activations or partial sums that the bus has yet to deliver to `clusters`."""

    def __init__(self, context: RowContext, loading: DataLoading, clusters: list[int]) -> None:
        self.context, self.loading, self.clusters = context, loading, clusters

    def predict(self, numbers: Sequence[int], weights: ResidentWeights) -> NDArray[Any] | None:
        """Return the activations of macs; mac i reads segment number `numbers[i]` of the packet.

        The packet is the one on the bus. Each mac reads its segment from the mac's base on.
        `weights` are the weights of the macs; the activations have the shape that
        `weights.multiply` takes. The result is None if there are too few segments, if their forms
        differ or are wrong, or if a mac reads more elements than a segment has. Raises `Fault`.
        """
        if len(numbers) < _FEWEST:
            return None
        packet: Packet = self.context.state.packet
        segments = [packet["segments"][number] for number in numbers]
        if len({_FORM(segment) for segment in segments}) > 1:
            return None
        if segments[0]["length"] % self._element_bytes(packet, numbers[0]):
            return None  # the iteration that takes it will raise a fault
        return weights.read(*self._contents(packet, numbers))

    def sums(self, packet: Packet, numbers: Sequence[int]) -> NDArray[Any]:
        """Return the partial sums of some segments of `packet`, which differ only in their offsets.

        `numbers` has the numbers of the segments. The result has the shape (segments, clusters,
        PEs, sums).
        """
        contents, parts = self._contents(packet, numbers)
        shape = len(numbers), len(self.clusters), self.context.shape.pes, contents.shape[2]
        return contents[:, parts].reshape(shape)

    def _contents(
        self, packet: Packet, numbers: Sequence[int]
    ) -> tuple[NDArray[Any], NDArray[np.intp]]:
        """Return the present contents of segments of `packet` that differ only in their offsets.

        The contents have the shape (segments, slices, elements). The second result is the number of
        the slice of each PE, of shape (clusters · PEs,).
        """
        length = packet["segments"][numbers[0]]["length"]
        offsets = np.array([packet["segments"][number]["offset"] for number in numbers])
        first = int(offsets.min())
        bytes_near = self.context.memory.peek(first, int(offsets.max()) + length - first)
        near = np.frombuffer(bytes_near, np.uint8)
        data = near[(offsets - first)[:, None] + np.arange(length)].tobytes()
        contents = self.loading.dense_values(packet, numbers[0], data, len(numbers))
        shape = self.context.shape
        parts = [slices_of(shape, cluster, packet, numbers[0]) for cluster in self.clusters]
        return contents, np.concatenate(parts)

    def elements(self, packet: Packet, number: int) -> int:
        """Return how many activations each PE gets from segment `number` of `packet`."""
        length = packet["segments"][number]["length"]
        return length // self._element_bytes(packet, number)

    def _element_bytes(self, packet: Packet, number: int) -> int:
        """Return how many bytes segment `number` of a packet has for one activation of each PE.

        These bytes are one element of each slice.
        """
        kind = dtype_of(segment_type(self.context.clusters, packet, number))
        mode = packet["segments"][number]["mode"]
        return slices(self.context.shape, mode, len(packet["clusters"])) * np.dtype(kind).itemsize
