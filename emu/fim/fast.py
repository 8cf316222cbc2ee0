"""The fast engine of islands: it does many repeats of an operation at once."""

from __future__ import annotations

from typing import Any

from macaw.emu import recordings
from macaw.emu.faults import Fault, Stop
from macaw.emu.fim import tracing
from macaw.emu.fim.circuit_data import CircuitData
from macaw.emu.fim.core import IslandCore
from macaw.emu.fim.deferred_data import DeferredData
from macaw.emu.fim.state import Block, Buffer
from macaw.emu.system import System
from macaw.isa.fim_islands import Geometry

_MAX_BATCH = 1 << 11
_BURST = 1 << 14  # `burst` while only one block runs: a cycle then has at most one word


class FastIsland(IslandCore):
    """An island that does many repeats of an operation at once.

    When a block faults, the engine may already have done later acts of another block. Then the
    engine undoes all acts since `advance` was called, and does them again one repeat at a time.
    """

    def __init__(self, device: System, number: int, geometry: Geometry) -> None:
        super().__init__(device, number, geometry)
        self.max_batch = _MAX_BATCH
        self._burst = self.burst  # while several blocks run
        rows = recordings.fields(device.config)
        self._trace_fields = [row.name for row in rows if not row.shape]

    def advance(self, limit: int) -> Stop | None:
        if self.listeners or self.island_origins is not None:  # they need the circuits' data
            return self._advance(limit)
        at_once: CircuitData = self.data
        self.data = DeferredData(self.state, self.memory, self.overflows)
        try:
            return self._advance(limit)
        finally:
            self.data.settle()
            self.data = at_once

    def _advance(self, limit: int) -> Stop | None:
        if sum(block.running for block in self.blocks) < 2:
            self.burst = _BURST  # the data of this many cycles are computed together
            return super().advance(limit)
        self.burst = self._burst
        saved = self._save()
        self.memory.journal = []
        self.max_batch = 1 if self.breaks else _MAX_BATCH
        try:
            return super().advance(limit)
        except Fault:
            # a new object of the same kind, without what is undone below
            self.data = type(self.data)(self.state, self.memory, self.overflows)
            self._undo(saved)
            self.max_batch = 1
            return super().advance(limit)
        finally:
            self.memory.journal = None
            self.max_batch = _MAX_BATCH

    def _save(self) -> dict[str, Any]:
        """Return a copy of the island's state, without the bytes of the banks.

        The journal records writes to the banks, so it can restore their bytes.
        """
        tracing.flush_tally(self)
        self.trace.sync()
        arrays = (row for row in self.state.fields if row.shape)
        return {
            "plain": (self.retired, dict(self.counts), self.dram.plain()),
            "overflows": self.overflows.plain(),
            "blocks": [block.plain() for block in self.blocks],
            "buffers": [buffer.plain() for buffer in self.buffers],
            "arrays": {row.name: getattr(self.state, row.name).copy() for row in arrays},
            "trace": {name: getattr(self.state, name) for name in self._trace_fields},
        }

    def _undo(self, saved: dict[str, Any]) -> None:
        # Records that were spilled stay in memory; the repetition writes them to the same
        # addresses.
        self.memory.undo()
        self.retired, self.counts, dram = saved["plain"]
        self.dram.take(dram)
        self.overflows.take(saved["overflows"])
        self.blocks = [Block.of(plain) for plain in saved["blocks"]]
        self.buffers = [Buffer.of(plain) for plain in saved["buffers"]]
        for name, data in saved["arrays"].items():
            getattr(self.state, name)[...] = data
        for name, value in saved["trace"].items():
            setattr(self.state, name, value)
        self.trace.reload()
