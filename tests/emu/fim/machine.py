"""Runs programs of an island without cp: assembled, started at cycle 0, run by the clock."""

from __future__ import annotations

from typing import Any

import numpy as np

from macaw.asm.assembler import Source, assemble
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.fim.core import IslandCore
from macaw.isa import config
from macaw.isa.fim_islands import island_address


class Machine:
    """A device with the program of one island, which starts at cycle 0."""

    def __init__(self, lines, device="tiny", engine="fast", island=0, jitter=None):
        self.lines = lines
        self.config = config.load(device) if isinstance(device, str) else device
        text = f"        .core cp\n        nop\n        .core fim, island={island}\n" + "\n".join(
            lines
        )
        self.program = assemble(Source(text, "p.s"), device=self.config)
        self.device = Device(self.config, engine=engine, jitter=jitter)
        self.device.load(self.program)
        self.device.by_number[0].running = False
        self.device.by_number[0].time = 1 << 62
        core = self.device.cores[f"fim[{island}]"]
        assert isinstance(core, IslandCore)
        self.island = core
        self.base = island_address(island)

    def address(self, bank, row, column=0):
        """The address of a column."""
        memory = self.island.geometry
        return self.base + bank * memory.bank_bytes + row * memory.row_bytes + column * 32

    def put(self, bank, row, column, values):
        """Write numbers into a row, from a column on."""
        self.device.memory.poke(self.address(bank, row, column), np.asarray(values).tobytes())

    def get(self, bank, row, column, count, dtype="float16"):
        """Read `count` numbers of a row, from a column on."""
        data = self.device.memory.peek(
            self.address(bank, row, column), count * np.dtype(dtype).itemsize
        )
        return np.frombuffer(data, dtype)

    def start(self):
        entry = self.program.section(f".fim.{self.island.island}").address
        self.island.start(entry, 0)
        return self

    def run(self, max_cycles=2_000_000):
        return self.device.run(max_cycles=max_cycles)

    def done(self):
        """Start, run to the end, and return the cycle in which the last block ended."""
        stop = self.start().run()
        assert stop.reason == "exit", stop.message
        return stop.cycle


def fetch_times(machine):
    """Return a dict that a run fills: the index of each word, and the cycle of its first fetch."""
    seen: dict[Any, Any] = {}
    base = machine.program.section(f".fim.{machine.island.island}").address

    def hear(event: Event) -> None:
        if event.kind == "instruction":
            seen.setdefault((int(event.values["address"]) - base) // 4, event.time)

    machine.device.listen(hear)
    return seen
