"""The records of a row's provenance, stored beside its queues, buffers, sums and output queues.

The record of an entry of a weight queue or input buffer is the address from which the entry came.
The record of an accumulator has the products that were added to it. The record of an output-queue
entry is the step that wrote it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import Core
from macaw.emu.origins import Origin, Origins, Source
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.loads import INDEX_MASK, PLACE_SHIFT
from macaw.emu.pe.pe_arrays import PeArrays
from macaw.emu.pe.product_log import ACTIVATION, COLUMNS, MAC, TIME, WEIGHT, ProductLog
from macaw.emu.pe.unit_memory import UnitMemory
from macaw.isa.typed_records import NamedTuple

# cluster, PE, entry of the output queue; or cluster, buffer, accumulator of 604
Key = tuple[int, int, int]


class TakenSegment(NamedTuple):
    """A segment that an ld has taken.

    `address` and `size` say where the segment is in memory; its elements have `item` bytes. `ld` is
    the address of the ld, `time` the cycle in which it took the segment. `choice` is the
    description of the segment in the packet, as the setting that chose these bytes.
    """

    address: int
    size: int
    time: int
    ld: int
    choice: Source
    item: int


class ProvenanceRecords(Origins):
    """The records of one row: from where the values in its queues, buffers and sums came.

    `number()` returns how many events the device has announced to listeners so far.
    """

    def __init__(
        self,
        core: Core,
        clusters: list[Cluster],
        arrays: PeArrays,
        memory: UnitMemory,
        number: Callable[[], int],
    ) -> None:
        super().__init__(number)
        self.core, self.clusters, self.arrays, self.memory = core, clusters, arrays, memory
        self.state, self.shape = arrays.state, arrays.shape
        count = arrays.pes.size
        # By entry, over all weight queues and input buffers: address, and number of the
        # announcement.
        self.weights = np.full((count * self.shape.weight_queue, 2), -1, np.int64)
        self.activations = np.full((count * self.shape.input_buffer, 2), -1, np.int64)
        self.mac_at = np.full(self.shape.clusters, -1, np.int64)
        # by number of the announcement: the segments taken
        self.segments: dict[int, list[TakenSegment]] = {}
        # by order of the packet: its address, without the half bit
        self.packets: dict[int, int] = {}
        self.products = ProductLog(self.item_size, Adder(self.shape.sum_type, self.shape.overflow))
        # The accumulators of 604 that were cleared since the record began, as in `scalars`.
        self.cleared: set[Key] = set()
        self.output: dict[Key, Origin] = {}
        # by address: size and origin of each result that a store wrote there
        self.store_origins: dict[int, list[tuple[int, Origin]]] = {}
        self.reductions: dict[int, list[Origin]] = {}  # by cluster: the reduction that executes now
        # By cluster and buffer: the config, and the address of the sequence that it brought.
        self.configs: dict[tuple[int, int], tuple[Origin, int]] = {}
        # By cluster, buffer and type of the segment: the number of the announcement, and for each
        # PE the address of its scale or of the table.
        self.config_data: dict[tuple[int, int, int], tuple[int, list[int]]] = {}
        self.scalars: dict[Key, list[Origin]] = {}  # by cluster, buffer, accumulator of 604

    def start_within_run(self) -> None:
        super().start_within_run()
        self.products.is_partial = True

    def flat(self, cluster: int, pe: int, accumulator: int) -> int:
        """Return the number of an accumulator of PE (`cluster`, `pe`), counted through the row."""
        width = self.state.accumulators.shape[-1]
        return (cluster * self.shape.pes + pe) * int(width) + accumulator

    def segment(self, number: int, address: int) -> TakenSegment | None:
        """Return the segment that contains `address` and that an ld took at announcement `number`.

        Announcements are events for listeners, numbered from the start of the record. The result is
        None if the ld took no such segment.
        """
        taken = self.segments.get(number, ())
        return next((x for x in taken if x.address <= address < x.address + x.size), None)

    def item_size(self, number: int, address: int) -> int:
        """Return the size in bytes of the weight or activation that an ld took from `address`.

        The ld took its segment at announcement `number`. If no such segment is recorded, the result
        is the size of the row's value type.
        """
        taken = self.segment(number, address)
        return np.dtype(self.shape.value_type).itemsize if taken is None else taken.item

    def loads(
        self, owner: NDArray[Any], load: NDArray[Any]
    ) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """Return the columns of the product log for some loads, and the factors of their products.

        A load (`load`) is an entry of a load queue: it refers to a weight and an activation.
        `owner` has the number of the PE whose weight queue and input buffer contain both. Both
        arguments have shape (loads,). The first result has shape (columns, loads);
        `product_log` names the columns. The second has shape (2, loads): weights, then activations.
        """
        arrays = self.arrays
        weight = arrays.weight_row[owner] + (load >> PLACE_SHIFT & INDEX_MASK)
        activation = arrays.input_row[owner] + (load & INDEX_MASK)
        rows = np.empty((COLUMNS, owner.size), np.int64)
        rows[TIME] = self.core.time
        rows[MAC] = self.mac_at[owner // self.shape.pes]
        rows[WEIGHT : WEIGHT + 2] = self.weights[weight].T
        rows[ACTIVATION : ACTIVATION + 2] = self.activations[activation].T
        return rows, np.array([arrays.weight_value[weight], arrays.activations[activation]])

    def reduction_sources(self, key: Key, reductions: list[Origin]) -> list[Source]:
        """Return the sources of accumulator `key` of the scalar unit: the results in `reductions`.

        Each item of `reductions` is the origin of a result that was added to the accumulator.
        """
        sources = [Source("reduced", x.number, None, None, x, x.value) for x in reductions]
        if self.is_partial and key not in self.cleared:
            sources.append(Source("reduced", self.number()))
        return sources
