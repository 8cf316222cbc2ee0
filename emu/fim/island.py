"""The data of an island, which the functions for words read and change."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from macaw.emu.core import Core
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.bank_memory import BankMemory
from macaw.emu.fim.circuit_data import CircuitData
from macaw.emu.fim.dram import Dram
from macaw.emu.fim.origins import IslandOrigins
from macaw.emu.fim.overflows import Overflows
from macaw.emu.fim.program import ProgramMemory
from macaw.emu.fim.repeats import UNKNOWN, Batch
from macaw.emu.fim.state import OWN_COUNTS, Block, Buffer, Circuit, IslandState
from macaw.emu.inspection import PortlessMover
from macaw.emu.rules.fim_circuits import AluTimings
from macaw.emu.system import System
from macaw.emu.tallies import Tally
from macaw.emu.waits import NEVER, Waiting
from macaw.isa.fim import CORE
from macaw.isa.fim_islands import WAITS, Geometry, Place, abilities


class Island(Core, PortlessMover):
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
        self.overflows = Overflows()
        self.data = CircuitData(self.state, self.memory, self.overflows)
        self.program = ProgramMemory(name, number, device.memory)
        self.latency = lru_cache(maxsize=256)(AluTimings.of(device.config, self.abilities).latency)
        self.blocks: list[Block] = []
        self.buffers: list[Buffer] = []
        # by bank: the circuit, valid while no block uses the bank
        self.circuits: list[Circuit] = []
        # the cycle in which all host operations are done; NEVER if there are none
        self.host_until = NEVER
        self.counts = dict.fromkeys(OWN_COUNTS, 0)
        self.max_batch = 1  # the greatest number of repeats of an operation that are done at once
        self.checked_modes: set[Mode] = set()  # caches whether the circuits can do a mode
        self.buffer_banks: frozenset[int] | None = None  # cache of `buffer_access.buffer_banks`
        # the record of values' origins, if `remember` was called
        self.island_origins: IslandOrigins | None = None
        # For the trace: while only one block runs, the tally adds up what its words use.
        self.batch: Batch | None = None  # the repeats that the engine has just done
        self.batch_mode: Mode | None = None  # the mode of `batch`
        self.moved = 0  # columns that the present word has pushed or pulled
        self.is_single = False  # whether only one block runs
        self.tally = Tally()
        self.tally_end = UNKNOWN  # the number of the first word that is not in the tally
        # the block with a `fim` in the tally that has repeats left
        self.tally_block: Block | None = None

    def access_column(self, place: Place, time: int, writes: bool, step: int) -> tuple[int, int]:
        """Access the column of `place` over the channel; open its row first if necessary.

        The method counts the rows that it opens. Each command is issued in one of the cycles
        `time`, `time` + `step`, ... Return the cycle of the column command, and the first cycle
        after its data.
        """
        self.counts["channel_rows"] += int(self.dram.rows[place.bank] != place.row)
        return self.dram.access(place.bank, place.row, time, writes, step)

    def settle(self) -> None:
        """Set the time of the island's next act, whether it runs, and for what it waits.

        All this follows from the blocks and the host's operations. The island waits only if all
        running blocks wait, each until an unknown cycle.
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

        `number` returns how many events the device has announced to listeners so far.
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
        """The address of the instruction that sends a host operation now; None if there is none."""
        acting = self.device.acting
        return None if acting is None else acting.next_address

    def counters(self) -> dict[str, int]:
        waits = dict(zip((row.name for row in WAITS), self.dram.waits.values(), strict=True))
        overflows = self.overflows.total
        return {"instructions": self.retired, **self.counts, "overflows": overflows, **waits}
