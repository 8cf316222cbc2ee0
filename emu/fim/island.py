"""The data of an island, which the words of its blocks read and change."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from macaw.emu.core import Core
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.bank_memory import BankMemory
from macaw.emu.fim.dram import Dram
from macaw.emu.fim.origins import IslandOrigins
from macaw.emu.fim.program import ProgramMemory
from macaw.emu.fim.repeats import UNKNOWN, Batch
from macaw.emu.fim.state import OWN_COUNTS, Block, Buffer, Circuit, IslandState
from macaw.emu.rules.fim_circuits import AluTimings
from macaw.emu.system import System
from macaw.emu.tallies import Tally
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.fim import CORE
from macaw.isa.fim_islands import WAITS, Geometry, abilities


class Island(Core):
    """An island's data without its behaviour: circuits, banks, blocks, buffers and counters."""

    state: IslandState

    def __init__(self, device: System, number: int, geometry: Geometry) -> None:
        name = f"{CORE.name}[{number}]"
        core_number = CORE.number + number
        super().__init__(device, CORE, name, core_number, IslandState(geometry.banks))
        self.island = number
        self.geometry = geometry
        self.abilities = abilities(device.config, number)
        self.divider = self.abilities.divider
        self.dram = Dram(geometry, device.config, device.jitter_of(core_number))
        self.memory = BankMemory(number, geometry, device.memory)
        self.program = ProgramMemory(name, number, device.memory)
        self.latency = lru_cache(maxsize=256)(AluTimings.of(device.config, self.abilities).latency)
        self.blocks: list[Block] = []
        self.buffers: list[Buffer] = []
        self.circuits: list[Circuit] = []  # by bank, while no block works with it
        self.host_until = NEVER  # the cycle in which all host operations are done; NEVER: none left
        self.counts = dict.fromkeys(OWN_COUNTS, 0)
        self.max_batch = 1  # repeats of an operation that are done at once at most
        self.checked_modes: set[Mode] = set()  # modes in use that the circuits can do
        self.buffer_banks: frozenset[int] | None = None  # cache of `buffer_access.buffer_banks`
        self.island_origins: IslandOrigins | None = None  # set by `remember`
        # For the trace. With one block running, words are added up in the tally.
        self.batch: Batch | None = None  # the repeats that were done last
        self.is_single = False  # one block runs
        self.tally = Tally()
        self.tally_end = UNKNOWN  # number of the word after those in the tally
        self.tally_block: Block | None = None  # its fim in the tally has repeats left

    def settle(self) -> None:
        """Set the island's time and wait, from those of its blocks and its host operations.

        The island waits only if all running blocks wait without a known end.
        """
        running = [block for block in self.blocks if block.running]
        self.time = min(self.host_until, *(block.time for block in running), NEVER)
        self.running = bool(running) or self.host_until != NEVER
        self.waiting = None
        if running and self.time == NEVER:
            on = "; ".join(f"{block.waiting} (block {block.index})" for block in running)
            self.waiting = Waiting(on, min(block.since for block in running), 0)

    def remember(self, number: Callable[[], int]) -> IslandOrigins:
        """Start to record where values in the circuits come from. Return the record.

        `number` returns the number of announcements so far.
        """
        origins = IslandOrigins(self.state, self.memory, self.dram, number)
        self.origins = self.island_origins = origins
        return origins

    @property
    def start_count(self) -> int:
        count = self.retired
        for block in self.blocks:
            if block.repeat:
                count += 1
        return count

    @property
    def acting_address(self) -> int | None:
        """The address of the instruction that sends a host operation, or None."""
        acting = self.device.acting
        return None if acting is None else acting.next_address

    def counters(self) -> dict[str, int]:
        waits = dict(zip((row.name for row in WAITS), self.dram.waits.values(), strict=True))
        return {"instructions": self.retired, **self.counts, **waits}
