"""An island: blocks with their own program counters, one word after the other (docs/timing-fim.md).

The block with the least (time, number) does its next word; what that has to wait for in the
memory or the ALU is known at once, so its effects are those of the cycle in which it is asked
for, and the block goes on behind the last command. The reference engine takes the repeats of a
`fim` one by one, the fast one as many as come before the clock's limit together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu import recordings
from macaw.emu.address_space import Guarded
from macaw.emu.core import NEVER, Core, Stall, Units, Waiting
from macaw.emu.faults import Fault, Stop
from macaw.emu.fim import guards, operations, sending, tracing, words
from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.buffers import end_at
from macaw.emu.fim.dram import Dram
from macaw.emu.fim.origins import IslandOrigins
from macaw.emu.fim.stalls import stalls, unit
from macaw.emu.fim.state import NOBODY, NOWHERE, OWN_COUNTS, Block, Buffer, Circuit, fields
from macaw.emu.fim.tiles import TILES
from macaw.emu.formats import MemoryFormat
from macaw.emu.origins import Origins
from macaw.emu.rules.circuits import AluTimings
from macaw.emu.system import Operable, Startable
from macaw.emu.tallies import Tally
from macaw.emu.windows import WindowNotReady
from macaw.isa import memory_map
from macaw.isa.codec import Decoded, DecodeError, decode
from macaw.isa.fim import CORE
from macaw.isa.fim_check import Check, CheckError
from macaw.isa.fim_circuit import (
    BUFFERS,
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
    COLUMNS,
    FORMATS,
    GIO,
    ROP,
    RZ,
)
from macaw.isa.fim_islands import WAITS, Geometry, abilities, island_address

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.pages import Pages

WORD = 4


class Island(Core, Startable, Operable, Guarded):
    """An island's circuits and banks; the reference engine."""

    at_once = 1  # repeats of an operation that are done together at most
    halts = True

    def __init__(self, device: Device, number: int, geometry: Geometry) -> None:
        name = f"{CORE.name}[{number}]"
        super().__init__(device, CORE, name, CORE.number + number, fields(geometry.banks))
        self.island = number
        self.geometry = geometry
        self.able = abilities(device.config, number)
        self.divider = self.able.divider
        self.dram = Dram(geometry, device.config, device.jitter_of(self.number))
        self.latency = lru_cache(maxsize=256)(AluTimings.of(device.config, self.able).latency)
        self.blocks: list[Block] = []
        self.buffers: list[Buffer] = []
        self.circuits: list[Circuit] = []  # by bank: what they are between blocks
        self.sent = NEVER  # when what the host has sent is done
        self._buffer_banks: frozenset[int] | None = None
        self.counts = dict.fromkeys(OWN_COUNTS, 0)
        self._decoded: dict[int, Decoded] = {}
        self.able_modes: set[Mode] = set()  # that were asked for, and the circuits can do
        self.journal: list[tuple[int, bytes]] | None = None  # what written bytes were
        self.run: operations.Run | None = None  # the repeats that were done last
        self.tally = Tally()  # what the trace will have
        self.untold = tracing.UNKNOWN  # the number of the word behind those in the tally
        self.tallied: Block | None = None  # whose fim in the tally is not done
        self.alone = False  # one block runs
        self.starts = 0  # since the device was made
        self.asked: dict[int, object] = {}  # by block: the moment of the break it came to last
        self.remembered: IslandOrigins | None = None  # only while somebody asks

    # Memory

    @property
    def first_column(self) -> int:
        """The number of the island's first column, as pointers count them."""
        return (island_address(self.island) - memory_map.ISLANDS) // COLUMN_BYTES

    def address(self, column: int) -> int:
        """The address of the column that a pointer names."""
        return memory_map.ISLANDS + column * COLUMN_BYTES

    @property
    def banks(self) -> Pages:
        """The bytes of the banks."""
        return self.device.memory.own[self.number, CORE.memories[1].name]

    @cached_property
    def cells(self) -> NDArray[np.uint8]:
        """The bytes of the banks to read: bank, row, column, byte."""
        shape = (self.geometry.banks, self.geometry.rows, COLUMNS, COLUMN_BYTES)
        return np.frombuffer(self.banks.bytes, np.uint8).reshape(shape)

    @property
    def buffer_banks(self) -> frozenset[int]:
        """The banks in which a buffer may lie as long as the present blocks run."""
        if self._buffer_banks is None:
            self._buffer_banks = guards.buffer_banks(self)
        return self._buffer_banks

    def store(self, offset: int, data: bytes) -> None:
        """Write bytes of the banks."""
        if self.journal is not None:
            self.journal.append((offset, self.banks.read(offset, len(data))))
        self.banks.write(offset, data)

    def word(self, address: int) -> Decoded:
        """The word at an address of the island's program. Raises `Fault`."""
        pages = self.device.memory.own[self.number, CORE.memories[0].name]
        offset = address - CORE.memories[0].start(self.island)
        if not 0 <= offset <= pages.size - WORD:
            raise Fault(
                "out-of-range access",
                f"fetch of a word at {address:#010x}, which is not in the {CORE.memories[0].name}"
                f" of {self.name}",
                {"address": address},
                core=self.name,
            )
        value = int.from_bytes(pages.read(offset, WORD), "little")
        found = self._decoded.get(value)
        if found is None:
            try:
                found = decode(CORE, value, 32, address)
            except DecodeError as error:
                detail = error.detail or f"no word of {CORE.name}"
                message = f"the word {value:#010x}: {detail}"
                raise Fault(
                    error.kind, message, {"word": value}, core=self.name, address=address
                ) from None
            self._decoded[value] = found
        return found

    def reached(
        self, memory: str, time: int, offset: int, length: int, writes: bool, ready: int
    ) -> int:
        if memory != CORE.memories[1].name or not length:
            return ready
        first, last = offset // COLUMN_BYTES, (offset + length - 1) // COLUMN_BYTES
        places = [self.geometry.place(column * COLUMN_BYTES) for column in range(first, last + 1)]
        for block in self.blocks:
            for place in places:
                if block.running and place.bank in block.banks:
                    on = f"bank {place.bank} of {self.name}, which block {block.index} works with"
                    raise WindowNotReady(on, 1 << self.number, NEVER, ordered=True)
        self.dram.begin(time)
        waits = dict(self.dram.waits)  # of circuits; the host's show in its own times
        for place in places:
            time, ready = self.dram.access(place.bank, place.row, time, writes)
        self.dram.waits = waits
        self.counts["host_columns"] += len(places)
        return ready

    def read_register(self, name: str, time: int) -> int:
        if name in CIRCUIT_REGISTERS:
            return sending.read(self, name)
        buffer, _, part = name.removeprefix("b").partition("_")
        found = self.buffers[int(buffer)]
        column = end_at(found, time) if part == "end" else int(getattr(found, part))
        return 0 if column == NOWHERE else self.address(column)

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set a register of the circuits. Raises `Fault`."""
        sending.write(self, name, value, time)

    def operate(self, memory: str, offset: int, number: int, mask: int, time: int) -> int:
        """See `Operable.operate`: one of the ten operations."""
        if memory != CORE.memories[1].name:
            text = f"operation {number} sent to {memory} of {self.name}, which takes none"
            raise Fault("bad mask", text, {"number": number})
        return sending.send(self, number, self.geometry.place(offset), mask, time)

    # The contract

    @property
    def next_address(self) -> int | None:
        block = self._next()
        return None if block is None else block.pc

    def _next(self) -> Block | None:
        """The block whose turn it is, or one that waits if all do."""
        running = [block for block in self.blocks if block.running]
        return min(running, key=lambda block: (block.time, block.index), default=None)

    def start(self, entry: int, time: int) -> None:
        """Begin the blocks of the program at `entry`, all at once. Raises `Fault`."""
        if entry % WORD:
            raise Fault(
                "misaligned access", f"{self.name} starts at {entry:#010x}", {"entry": entry}
            )
        begin = self.aligned(time)
        try:
            found = self._scan(entry)
        except Fault as fault:
            fault.cycle = time
            raise
        self.starts += 1
        self.blocks = [Block(index, *block, begin) for index, block in enumerate(found)]
        self._buffer_banks = None
        if self.remembered is not None:
            self.remembered.started()
        for buffer in self.buffers:
            buffer.owner = buffer.producer = NOBODY
        if self.blocks:
            self.running = True
            self.settle()

    def _scan(self, entry: int) -> list[tuple[list[int], int]]:
        """The blocks of a program: their banks and first words. Raises `Fault`."""
        check = Check(self.geometry.banks, self.geometry.rows, self.able)
        found: list[tuple[list[int], int]] = []
        address = entry
        while True:
            item = self.word(address)
            try:
                if item.row.mnemonic == "endall":
                    check.finish()
                check.take(item.row, item.values, address)
                if item.row.mnemonic == "endall":
                    return found
            except CheckError as error:
                at = error.mark if isinstance(error.mark, int) else address
                raise Fault(
                    error.fault, str(error), {"word": at}, core=self.name, address=at
                ) from None
            address += WORD
            if item.row.mnemonic == "block":
                mask = item.values["banks"]
                found.append(([x for x in range(self.geometry.banks) if mask >> x & 1], address))

    def advance(self, limit: int) -> Stop | None:
        self.alone = sum(block.running for block in self.blocks) == 1
        while True:
            block = self._next()
            if self.sent < limit and (block is None or self.sent <= block.time):
                self._sent_is_done()
                return None
            if block is None or block.time >= limit:
                break
            self.time = block.time
            stop = self._break() if self.breaks else None
            if stop is not None:
                return stop
            if self._step(block, limit):
                self.settle()
                return None
        tracing.catch_up(self, limit)
        self.settle()
        return None

    def _sent_is_done(self) -> None:
        self.time, self.sent = self.sent, NEVER
        over = self.time
        self.settle()
        self.device.changed(self, over)

    def moment(self, address: int) -> object:
        return self.starts, *(block.moment for block in self.blocks if block.pc == address)

    @property
    def following(self) -> tuple[int, ...]:
        return tuple(block.pc for block in self._beginning())

    def _beginning(self) -> Iterator[Block]:
        """The blocks whose next word begins in the island's next cycle."""
        for block in self.blocks:
            if block.running and block.time == self.time and not block.repeat and not block.waiting:
                yield block

    def _break(self) -> Stop | None:
        """The stop before the words that begin in this cycle; each is asked about once."""
        found = None
        for block in self._beginning():
            moment = self.starts, block.moment
            if block.pc in self.breaks and self.asked.get(block.index) != moment:
                self.asked[block.index] = moment
                found = self.halted(block.pc) or found
        return found

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """See `Core.not_numbers`: of the registers of banks whose blocks run, in their formats."""
        found = {}
        for name in (ROP, GIO, RZ):
            data = getattr(self.state, name)
            found[name] = np.zeros(len(data), np.bool_)
            for block in self.blocks:
                if block.running:
                    held = data[block.places].view(block.mode.dtype)
                    found[name][block.places] = np.isnan(held).any(axis=1)
        return found

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """See `Core.formats`: of a tensor product, and what dot leaves."""
        return TILES

    def _step(self, block: Block, limit: int) -> bool:
        """Do a word of a block; whether others have to act now."""
        item = self.word(block.pc)
        comes = words.COMES.get(item.row.mnemonic)
        if comes is not None:
            time = self.aligned(comes(self, block, item.values))
            if time > block.time:
                block.time = time
                return False
        if self.listeners and not block.repeat:
            banks = sum(1 << bank for bank in block.banks)
            self.announce("instruction", address=block.pc, block=block.index, banks=banks)
        try:
            if self.tracing or self.listeners:
                return tracing.step(self, block, item, words.ACTS[item.row.mnemonic], limit)
            return words.ACTS[item.row.mnemonic](self, block, item.values, limit)
        except Fault as fault:
            fault.address = block.pc if fault.address is None else fault.address
            raise

    def settle(self) -> None:
        """The time of the next act, and what is waited for, from the blocks and what was sent."""
        running = [block for block in self.blocks if block.running]
        self.time = min(self.sent, *(block.time for block in running), NEVER)
        self.running = bool(running) or self.sent != NEVER
        self.waiting = None
        if running and self.time == NEVER:
            on = "; ".join(f"{block.waiting} (block {block.index})" for block in running)
            self.waiting = Waiting(on, min(block.since for block in running), 0)

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = self.remembered = IslandOrigins(self, number)
        return self.origins

    @property
    def begun(self) -> int:
        found = self.retired
        for block in self.blocks:
            if block.repeat:
                found += 1
        return found

    def trace_changed(self) -> None:
        """What is under way when the last record has ended will be in none."""
        if not self.tracing:
            self.tallied = None
            for block in self.blocks:
                block.number = tracing.UNKNOWN

    def units(self) -> Units:
        """The lanes of a circuit's ALU; one takes a number in a cycle. A beat is a column."""
        width = max(row.size for row in FORMATS if row.name in self.able.formats)
        # Columns of a bank follow one another after t_ccdl; asked for is one a cycle.
        spacing = -(-self.dram.timings.t_ccdl // self.divider) * self.divider - self.divider
        return Units(self.able.lanes, width, COLUMN_BYTES, spacing)

    def stalls(self) -> Sequence[Stall]:
        found = tuple(stalls(self)) if any(block.running for block in self.blocks) else ()
        return found or super().stalls()

    def unit(self, units: tuple[int, ...]) -> Stall:
        return unit(self, *units)

    def counters(self) -> dict[str, int]:
        waits = dict(zip((row.name for row in WAITS), self.dram.waits.values(), strict=True))
        return {"instructions": self.retired, **self.counts, **waits}

    def reset(self) -> None:
        self.state.reset()
        self.state.blocks = []
        self.state.circuits = [Circuit().plain() for _ in range(self.geometry.banks)]
        self.state.buffers = [Buffer().plain() for _ in range(BUFFERS)]
        self.dram.reset()
        self.state.dram = self.dram.plain()
        self.state.counts = [0] * len(OWN_COUNTS)
        self.reload()

    def sync(self) -> None:
        tracing.catch_up(self, self.device.frontier(self))
        tracing.absorb(self)
        super().sync()
        self.state.blocks = [block.plain() for block in self.blocks]
        self.state.buffers = [buffer.plain() for buffer in self.buffers]
        self.state.circuits = [circuit.plain() for circuit in self.circuits]
        self.state.sent = self.sent
        self.state.dram = self.dram.plain()
        self.state.counts = list(self.counts.values())

    def reload(self) -> None:
        super().reload()
        self.asked.clear()
        self.tally.clear()
        self.untold, self.tallied = tracing.UNKNOWN, None
        self.blocks = [Block.of(plain) for plain in self.state.blocks]
        self.buffers = [Buffer.of(plain) for plain in self.state.buffers]
        self.circuits = [Circuit.of(plain) for plain in self.state.circuits]
        self.sent = self.state.sent
        self._buffer_banks = None
        self.dram.take(self.state.dram)
        self.counts = dict(zip(OWN_COUNTS, self.state.counts, strict=True))


class FastIsland(Island):
    """The fast engine: repeats of an operation together.

    While one block goes ahead another one may fault. Then the whole advance is taken back, and done
    again word by word.
    """

    at_once = 1 << 11

    def __init__(self, device: Device, number: int, geometry: Geometry) -> None:
        super().__init__(device, number, geometry)
        rows = recordings.fields(device.config)
        self._of_trace = [row.name for row in rows if not row.shape]

    def advance(self, limit: int) -> Stop | None:
        if sum(block.running for block in self.blocks) < 2:
            return super().advance(limit)
        saved = self._saved()
        self.journal = []
        self.at_once = 1 if self.breaks else FastIsland.at_once
        try:
            return super().advance(limit)
        except Fault:
            self._take_back(saved)
            self.at_once = 1
            return super().advance(limit)
        finally:
            self.journal = None
            self.at_once = FastIsland.at_once

    def _saved(self) -> dict[str, Any]:
        """The state but for the memory; written bytes come into the journal."""
        tracing.absorb(self)
        self.trace.sync()
        arrays = (row for row in self.state.fields if row.shape)
        return {
            "plain": (self.retired, dict(self.counts), self.dram.plain()),
            "blocks": [block.plain() for block in self.blocks],
            "buffers": [buffer.plain() for buffer in self.buffers],
            "arrays": {row.name: getattr(self.state, row.name).copy() for row in arrays},
            "trace": {name: getattr(self.state, name) for name in self._of_trace},
        }

    def _take_back(self, saved: dict[str, Any]) -> None:
        # Records that were spilled stay: they will be spilled again, at the same place.
        for offset, data in reversed(self.journal or []):
            self.banks.write(offset, data)
        self.retired, self.counts, dram = saved["plain"]
        self.dram.take(dram)
        self.blocks = [Block.of(plain) for plain in saved["blocks"]]
        self.buffers = [Buffer.of(plain) for plain in saved["buffers"]]
        for name, data in saved["arrays"].items():
            getattr(self.state, name)[...] = data
        for name, value in saved["trace"].items():
            setattr(self.state, name, value)
        self.trace.reload()
