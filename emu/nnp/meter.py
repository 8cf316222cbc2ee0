"""The meter of nnp: it counts the operations, reads and writes of each iteration of a chain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from macaw.emu.core import Core, Event
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import OUTSIDE, MeteredMemory
from macaw.emu.nnp.core import NnpCore
from macaw.emu.nnp.schedules.chain import Chain
from macaw.isa.activities import adding, multiplying, sram
from macaw.isa.nnp_entries import Access, flow
from macaw.isa.nnp_layouts import BY_NAME, TILE, UNITS, Memory

_QUANTISED = ("MatrixRf", "InitialVrf")  # their elements are those of the multiplier
_BITS = 8


class NnpMeter(Meter):
    """Counts the activities of announced iterations, by the first instruction of the chain."""

    core: NnpCore

    def __init__(self, core: NnpCore, memory: MeteredMemory) -> None:
        super().__init__(core, memory)
        config = core.device.config
        self.chains = 0
        self.native = int(config["nnp.native"])
        self.number = str(config["nnp.host_format"])
        kind = str(config["nnp.quantise"])
        bits = int(config["nnp.vector_bits"]), int(config["nnp.matrix_bits"])
        if kind in ("float", "mx"):
            bits = _BITS, _BITS
        self.vector_bits, self.matrix_bits = bits
        # a product of powers of two is an addition of exponents
        width = "int8" if max(bits) <= _BITS else "int16"
        self.product = adding(width) if kind == "log" else multiplying(width)
        engines = int(config["nnp.engines"])
        self.memories = {
            row.name: sram(self._bytes(row, int(config[row.setting])) // self._parts(row, engines))
            for row in BY_NAME.values()
            if row.setting
        }

    def _parts(self, memory: Memory, engines: int) -> int:
        """Return the number of separate memories of which the memory `memory` consists.

        MatrixRf has one for each dot product that the `engines` tile engines compute in parallel.
        """
        return engines * self.native if memory.name == "MatrixRf" else 1

    def _bytes(self, memory: Memory, entries: int) -> int:
        """Return the number of bytes of `entries` entries of a register file or queue, `memory`."""
        elements = self.native * (self.native if memory.elements == (TILE,) else 1)
        if memory.name not in _QUANTISED:
            return entries * elements * (2 if self.number == "fp16" else 4)
        bits = self.matrix_bits if memory.name == "MatrixRf" else self.vector_bits
        return entries * -(-elements * bits // 8)

    def hear(self, event: Event) -> None:
        if event.kind == "instruction":
            self.add("commands", 1, int(event.values["address"]))
        elif event.kind == "chain":
            count = self.core.state.chains - self.chains
            self.chains += count
            chain = self.core.chain
            assert chain is not None  # its iterations were announced
            self.address = int(event.values["address"])
            self._iterations(chain, int(event.values["iteration"]), count)

    def _iterations(self, chain: Chain, first: int, count: int) -> None:
        """Count the operations, reads and writes of `count` iterations from number `first` on."""
        for access in (chain.source, *chain.writes):
            vectors = chain.output_count if access.writes else chain.input_count
            self._access(chain, access, first, count, vectors)
        flowing = flow(chain.rows, chain.scalars)
        if chain.product is not None:
            tiles = count * chain.product.count
            products = tiles * self.native**2
            self.add(self.product, products, self.address)
            self.add("add_int32", products, self.address)
            self._registers(chain.product.memory, tiles, False)
        for operation in chain.operations:
            vectors = count * (flowing[operation.at] or 0)
            if operation.operand is not None:
                self._registers(operation.operand.memory, count * operation.operand.count, False)
            self._operation(operation.block, operation.does, vectors * self.native)

    def _operation(self, block: str, does: str, elements: int) -> None:
        activity = {
            "add": adding(self.number),
            "multiply": multiplying(self.number),
            "activate": adding(self.number) if does == "v_relu" else "special",
        }.get(block, "logic")
        self.add(activity, elements, self.address)

    def _registers(self, memory: Memory, entries: int, writes: bool) -> None:
        """Count the bytes of `entries` entries of a register file or queue that are read.

        `memory` is the file or queue. With `writes`, the entries are written instead.
        """
        size = self._bytes(memory, entries)
        self.add(self.memories[memory.name], size, self.address, memory.name, writes)

    def _access(self, chain: Chain, access: Access, first: int, count: int, vectors: int) -> None:
        """Count the bytes that an access of a chain moves in `count` iterations from `first` on.

        `access` is the chain's source or one of its writes. In each iteration it moves `vectors`
        vectors.
        """
        if access.memory.setting:
            each = self.native if chain.is_tiles and access.memory.queue else 1
            self._registers(access.memory, count * vectors * each, access.writes)
            return
        addresses, length = self.core.traffic.runs(chain, access, first, count)
        flat = addresses.ravel()
        sizes = self.core.timing.beats(flat, length) * self.memory.width
        for tensor, total in self.memory.by_tensor(flat, np.asarray(sizes)).items():
            self.add("dram", total, self.address, OUTSIDE, access.writes, tensor)

    @property
    def products(self) -> frozenset[str]:
        return super().products | {self.product}  # of logarithms it is an addition

    @property
    def peak_operations(self) -> float:
        timing = self.core.timing
        products = 2 * timing.engines * self.native**2 / timing.pass_cycles
        blocks = sum(len(unit.blocks) for unit in UNITS if unit.name != "mvm")
        return products + blocks * self.native / timing.rate

    @property
    def peak_bytes(self) -> Mapping[str, float]:
        timing = self.core.timing
        channels = 2 * timing.channels + timing.matrix_channels  # vectors are read and written
        return {OUTSIDE: channels * timing.width / timing.divider}


def make(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of nnp."""
    assert isinstance(core, NnpCore)
    return NnpMeter(core, memory)
