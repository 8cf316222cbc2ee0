"""The meter of a row: it counts products of MACs, and accesses to queues and buffers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import Core, Event
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.emu.pe.element_types import dtype_of
from macaw.emu.pe.row import Row
from macaw.emu.pe.state import FREE, MAC, SFU, STORE
from macaw.isa.activities import adding, multiplying, sram
from macaw.isa.pe import ELEMENTS, ENTRY
from macaw.isa.pe_elements import ELEMENT_TYPES

WEIGHTS, INPUT, OUTPUT = "weight queue", "input buffer", "output queue"
_PE_COUNTERS = ("macs", "weights_examined", "effectual_loads", "output_reads", "output_writes")
_ROW_COUNTERS = ("bus_bytes", "sfu_results", "packets")
_SUMS = {row.name: row.accumulator for row in ELEMENT_TYPES}
_SUMS_BYTES = {"int32": 4, "int64": 8, "fp32": 4}


class RowMeter(Meter):
    """Counts a row's activities: after each act, by how much the counters have grown.

    These are the counters of the row and of its PEs.
    """

    core: Row

    def __init__(self, core: Row, memory: MeteredMemory) -> None:
        super().__init__(core, memory)
        shape = core.shape
        self.by_cluster = {name: [0] * shape.clusters for name in _PE_COUNTERS}
        self.by_row = dict.fromkeys(_ROW_COUNTERS, 0)
        self.bus: int | None = None  # the address of the packet on the bus
        # by cluster: the address of the mac that ran last, and the types of its operands
        self.macs: list[int | None] = [None] * shape.clusters
        self.types = [(shape.element, shape.element)] * shape.clusters
        value = np.dtype(shape.value_type).itemsize
        self.weights = sram(shape.weight_queue * (value + ENTRY.size))
        self.input = sram(shape.input_buffer * value)
        self.output = sram(shape.output_queue * np.dtype(shape.sum_type).itemsize)

    def hear(self, event: Event) -> None:
        if event.kind == "packet":
            self.bus = int(event.values["address"])
        elif event.kind == "read":
            self.address = self.bus
            super().hear(event)
        elif event.kind == "write":
            self.address = self._unit_address(STORE)
            self.memory.label(int(event.values["address"]), int(event.values["size"]), "")
            super().hear(event)

    def _unit_address(self, unit: int) -> int | None:
        """Return the address of the instruction that `unit` executes, in the first such cluster.

        The result is None if `unit` executes an instruction in no cluster.
        """
        addresses = (each.running_address(unit) for each in self.core.context.clusters)
        return next((address for address in addresses if address is not None), None)

    def acted(self) -> None:
        for number, cluster in enumerate(self.core.context.clusters):
            address = cluster.running_address(MAC)
            if address is not None:
                self.macs[number] = address
                self.types[number] = self._types(number, cluster.units[MAC])
            self._count(number)
        self._count_row()

    def _types(self, cluster: int, buffer: int) -> tuple[str, str]:
        """Return the types of weights and activations of the sequence in a buffer of a cluster."""
        if buffer == FREE or not self.core.shape.mixes:
            return self.core.shape.element, self.core.shape.element
        weights, activations = self.core.state.types[cluster, buffer].tolist()
        return ELEMENTS[weights], ELEMENTS[activations]

    def _count(self, cluster: int) -> None:
        """Count the activities of the PEs of a cluster since the last call, from their counters."""
        fresh = {}
        for name, before in self.by_cluster.items():
            counts: NDArray[np.int64] = getattr(self.core.state, name)
            total = int(counts[cluster].sum())
            fresh[name], before[cluster] = total - before[cluster], total
        if not any(fresh.values()):
            return
        address, (weights, activations) = self.macs[cluster], self.types[cluster]
        widest = max(weights, activations, key=_size)
        sums = _SUMS[widest]
        self.add(multiplying(widest), fresh["macs"], address)
        self.add(adding(sums), fresh["macs"], address)
        entry = _size(weights) + ENTRY.size
        self.add(self.weights, fresh["weights_examined"] * entry, address, WEIGHTS)
        self.add(self.input, fresh["effectual_loads"] * _size(activations), address, INPUT)
        result = _SUMS_BYTES[sums]
        self.add(self.output, fresh["output_reads"] * result, address, OUTPUT)
        self.add(self.output, fresh["output_writes"] * result, address, OUTPUT, True)

    def _count_row(self) -> None:
        """Count the bus's bytes and packets, and the special-function units' results.

        All are counted since the last call.
        """
        fresh = {}
        for name, before in self.by_row.items():
            total = int(getattr(self.core.state, name))
            fresh[name], self.by_row[name] = total - before, total
        self.add(self.input, fresh["bus_bytes"], self.bus, INPUT, True)
        self.add("commands", fresh["packets"], self.bus)
        if fresh["sfu_results"]:
            self.add("special", fresh["sfu_results"], self._unit_address(SFU))

    def close(self) -> None:
        for number in range(self.core.shape.clusters):
            self._count(number)
        self._count_row()

    @property
    def peak_operations(self) -> float:
        shape = self.core.shape
        macs = 2 * shape.clusters * shape.pes  # a product and an addition
        return (macs + shape.clusters * shape.sfu_rate) / self.core.divider

    @property
    def access_bytes(self) -> float:
        return 2 * self.core.shape.bus_bytes / self.core.divider  # the bus and the return bus


def _size(element: str) -> int:
    return np.dtype(dtype_of(ELEMENTS.index(element))).itemsize


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of a row."""
    assert isinstance(core, Row)
    return RowMeter(core, memory)
