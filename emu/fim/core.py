"""An island as a core: it executes the words of its blocks, each with its own program counter.

docs/timing-fim.md has the rules. The block with the least (time, number) executes its next word.
When a block requests a word, the island already knows how long the word waits for memory or the
ALU. So a word has its effects in the cycle of its request, and the block continues after the word's
last command.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.address_space import Guarded
from macaw.emu.breaks import Breakable
from macaw.emu.faults import Fault, Stop
from macaw.emu.fim import host_operations, stalls, tracing, words
from macaw.emu.fim.buffers import visible_end
from macaw.emu.fim.formats import TILE_FORMATS
from macaw.emu.fim.island import Island
from macaw.emu.fim.overflows import LIMITED
from macaw.emu.fim.program import WORD
from macaw.emu.fim.repeats import UNKNOWN
from macaw.emu.fim.state import NOBODY, NOWHERE, OWN_COUNTS, Block, Buffer, Circuit
from macaw.emu.floats import nans
from macaw.emu.formats import MemoryFormat
from macaw.emu.inspection import Caution, Cautioned, Stall
from macaw.emu.system import Operable, Startable, System
from macaw.emu.traced import Units
from macaw.emu.waits import NEVER
from macaw.emu.windows import WindowNotReady
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import BUFFERS, CIRCUIT_REGISTERS, COLUMN_BYTES, FORMATS, GIO, ROP, RZ
from macaw.isa.fim_islands import Geometry, Place, bank_ranges

_BANKS = CORE.memories[1].name
# what a caution says of results: floating-point numbers, or sums of integers
_OVERFLOWED = "overflowed, although the operands are finite", "exceeded 32 bits in Rz and wrapped"


class IslandCore(Island, Startable, Operable, Guarded, Breakable, Cautioned):
    """An island that executes its program and the operations that the host sends.

    An engine sets `max_batch`, the greatest number of repeats of an operation that it does at once.
    """

    def __init__(self, device: System, number: int, geometry: Geometry) -> None:
        super().__init__(device, number, geometry)
        self._start_count = 0  # the number of programs started since the device was made
        # by block: the `moment` of its last stop at a break
        self._break_moments: dict[int, object] = {}

    # Other cores

    def _places(self, memory: str, offset: int, length: int) -> list[Place]:
        """Return the columns that contain `length` bytes at `offset` of the island's banks.

        The list is empty if `memory` names a memory of the island that has no columns.
        """
        if memory != _BANKS or not length:
            return []
        first, last = offset // COLUMN_BYTES, (offset + length - 1) // COLUMN_BYTES
        return [self.geometry.place(column * COLUMN_BYTES) for column in range(first, last + 1)]

    def admit(self, memory: str, offset: int, length: int) -> None:
        self._admit(self._places(memory, offset, length))

    def _admit(self, places: Sequence[Place]) -> None:
        """Raise `WindowNotReady` if a running block uses a bank of the columns in `places`."""
        for block in self.blocks:
            for place in places:
                if block.running and place.bank in block.banks:
                    on = f"bank {place.bank} of {self.name}, which block {block.index} works with"
                    raise WindowNotReady(on, 1 << self.number, NEVER, ordered=True)

    def reached(
        self, memory: str, time: int, offset: int, length: int, writes: bool, ready: int
    ) -> int:
        """Return the cycle in which another core's access to this island is ready.

        The access is to `length` bytes at `offset` of the memory `memory`, in cycle `time`;
        `writes` says whether it writes. An access to banks takes one command for each column, and
        raises `WindowNotReady` while a block uses one of the accessed banks. For other memories of
        the island the result is `ready`.
        """
        places = self._places(memory, offset, length)
        if not places:
            return ready
        self._admit(places)
        self.dram.begin(time)
        waits = dict(self.dram.waits)  # a copy, so that waits of the host are not counted
        self.dram.refresh([place.bank for place in places], time)
        for place in places:
            time, ready = self.access_column(place, time, writes, 1)
        self.dram.waits = waits
        self.counts["host_columns"] += len(places)
        return ready

    def read_register(self, name: str, time: int) -> int:
        """Return the value of `name`, a register of the circuits or a pointer of a buffer.

        For a pointer, the value is the address of its column in cycle `time`, or 0 if no word has
        set the pointer.
        """
        if name in CIRCUIT_REGISTERS:
            return host_operations.read_register(self, name)
        number, _, part = name.removeprefix("b").partition("_")
        buffer = self.buffers[int(number)]
        column = visible_end(buffer, time) if part == "end" else int(getattr(buffer, part))
        return 0 if column == NOWHERE else self.memory.address(column)

    def write_register(self, name: str, value: int, time: int) -> None:
        """Set the register `name` of the circuits to `value` in each bank that no block uses.

        `time` is the cycle of the access. Raises `Fault`.
        """
        host_operations.write_register(self, name, value, time)

    def operate(self, memory: str, offset: int, number: int, mask: int, time: int) -> int:
        """Execute operation `number` of the circuits, which the host sent in cycle `time`.

        Return the cycle in which the banks get the operation's command; this may be later than
        `time`. The host names a column: the one with the byte at `offset` of `memory`. `mask`
        selects the banks; 0 selects the bank of the column. Raises `Fault`, for example if `memory`
        is not the memory of the banks, and `WindowNotReady` while a block uses one of the banks.
        """
        if memory != _BANKS:
            text = f"operation {number} sent to {memory} of {self.name}, which takes none"
            raise Fault("bad mask", text, {"number": number})
        return host_operations.send(self, number, self.geometry.place(offset), mask, time)

    # The program

    @property
    def next_address(self) -> int | None:
        block = self._next_block()
        return None if block is None else block.pc

    def _next_block(self) -> Block | None:
        """Return the block that acts next, or None if no block runs.

        It is the running block with the least (time, number). Its time is NEVER if all blocks wait.
        """
        running = [block for block in self.blocks if block.running]
        if len(running) == 1:
            return running[0]
        return min(running, key=lambda block: (block.time, block.index), default=None)

    def start(self, entry: int, time: int) -> None:
        """Start all blocks of the program at `entry` together.

        They start in the first cycle of the island's clock that is not before `time`. Raises
        `Fault`.
        """
        if entry % WORD:
            raise Fault(
                "misaligned access", f"{self.name} starts at {entry:#010x}", {"entry": entry}
            )
        begin = self.aligned(time)
        try:
            blocks = self.program.blocks(entry, self.geometry, self.abilities)
        except Fault as fault:
            fault.cycle = time
            raise
        self._start_count += 1
        self.blocks = [Block(index, *block, begin) for index, block in enumerate(blocks)]
        self.buffer_banks = None
        if self.island_origins is not None:
            self.island_origins.start_program()
        for buffer in self.buffers:
            buffer.owner = buffer.producer = NOBODY
        if self.blocks:
            self.running = True
            self.settle()

    def advance(self, limit: int) -> Stop | None:
        self.is_single = sum(block.running for block in self.blocks) == 1
        while True:
            block = self._next_block()
            host = self.host_until
            if host < limit and (block is None or host <= block.time):
                self._end_host_operations()
                return None
            if block is None or block.time >= limit:
                break
            self.time = block.time
            stop = self._check_breaks() if self.breaks else None
            if stop is not None:
                return stop
            if self._do_word(block, limit):
                self.settle()
                return None
        tracing.report_until(self, limit, 0, exactly=True)
        self.settle()
        return None

    def _end_host_operations(self) -> None:
        """End the host's operations, because all are done; wake the cores that wait for them."""
        self.time, self.host_until = self.host_until, NEVER
        last = self.time
        self.settle()
        self.device.changed(self, last)

    def moment(self, address: int) -> object:
        return self._start_count, *(block.moment for block in self.blocks if block.pc == address)

    @property
    def next_addresses(self) -> tuple[int, ...]:
        return tuple(block.pc for block in self._starting_blocks())

    def _starting_blocks(self) -> Iterator[Block]:
        """Yield the blocks that start a word in cycle `self.time`, the island's next act."""
        for block in self.blocks:
            if block.running and block.time == self.time and not block.repeat and not block.waiting:
                yield block

    def _check_breaks(self) -> Stop | None:
        """Return the stop before one of the words that start in this cycle; None without a stop.

        The core tests the break at a word only once for each execution of the word.
        """
        stop = None
        for block in self._starting_blocks():
            moment = self._start_count, block.moment
            if block.pc in self.breaks and self._break_moments.get(block.index) != moment:
                self._break_moments[block.index] = moment
                stop = self.break_stop(block.pc) or stop
        return stop

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return which banks have a NaN in a register: for each register name, a mask of the banks.

        A register is read in the number format that the block of its bank uses. The masks are False
        for banks that no running block uses, and for int8.
        """
        masks = {}
        for name in (ROP, GIO, RZ):
            data = getattr(self.state, name)
            masks[name] = np.zeros(len(data), np.bool_)
            for block in self.blocks:
                if block.running and not block.mode.numbers.is_integer:
                    numbers = data[block.places].view(block.mode.dtype)
                    masks[name][block.places] = nans(numbers).any(axis=1)
        return masks

    def number_type(self, units: tuple[int, ...], register: str) -> str:
        """Return the type of the numbers in a bank's register, as the bank's last block set it.

        `units` is (bank,), or () for all banks. The result is empty if blocks have several types.
        In int8 the register Rz has sums of 32 bits.
        """
        blocks = (x for x in self.blocks if not units or units[0] in x.banks)
        formats = {block.mode.numbers for block in blocks}
        types = {form.sums if register == RZ else form.dtype for form in formats}
        return types.pop() if len(types) == 1 else ""

    @property
    def formats(self) -> Mapping[str, MemoryFormat]:
        """The formats in which the debugger can show memory: tiles of tensor products, by name."""
        return TILE_FORMATS

    def _do_word(self, block: Block, limit: int) -> bool:
        """Do the next word of a block, if everything that it needs is ready.

        Otherwise advance the block's time to the cycle in which all of this will be ready. Return
        whether other cores must act next. Raises `Fault`.
        """
        word = self.program.word(block.pc)
        address, time = block.pc, block.time
        ready_at = words.READY_AT.get(word.row.mnemonic)
        if ready_at is not None:
            ready = self.aligned(ready_at(self, block, word.values))
            if ready > time:
                block.time = ready
                if self.listeners:
                    self.announce("delayed", block=block.index, since=time)
                return False
        if self.listeners and not block.repeat:
            banks = sum(1 << bank for bank in block.banks)
            self.announce("instruction", address=address, block=block.index, banks=banks)
        try:
            act = words.ACTS[word.row.mnemonic]
            if not (self.tracing or self.listeners):
                return act(self, block, word.values, limit)
            ended = tracing.do_word(self, block, word, act, limit)
        except Fault as fault:
            fault.address = address if fault.address is None else fault.address
            raise
        if self.listeners:
            self.announce("advanced", block=block.index, address=address, since=time)
        return ended

    # State and questions

    def trace_changed(self) -> None:
        """If the trace has stopped recording, forget the numbers that it gave to the blocks'
        words.
        """
        if not self.tracing:
            self.tally_block = None
            for block in self.blocks:
                block.number = UNKNOWN

    def units(self) -> Units:
        """Return the sizes of compute units and accesses, for the trace.

        A compute unit is a lane of an ALU. It takes one number in a cycle.
        """
        width = max(row.size for row in FORMATS if row.name in self.abilities.formats)
        # Commands for consecutive columns of a bank are t_ccdl apart; in each cycle one is
        # requested.
        spacing = -(-self.dram.timings.t_ccdl // self.divider) * self.divider - self.divider
        return Units(self.abilities.lanes, width, COLUMN_BYTES, spacing)

    def stalls(self) -> Sequence[Stall]:
        running = any(block.running for block in self.blocks)
        return tuple(stalls.stalls(self)) if running else super().stalls()

    def cautions(self) -> Sequence[Caution]:
        return [
            Caution(
                address,
                f"in {FORMATS[form].name} {_OVERFLOWED[FORMATS[form].is_integer]}",
                count,
                f"bank{'s' if banks & banks - 1 else ''} {', '.join(bank_ranges(banks))}",
            )
            for address, form, count, banks in self.overflows.plain()
            if form != LIMITED
        ]

    def unit(self, units: tuple[int, ...]) -> Stall:
        return stalls.unit(self, *units)

    def reset(self) -> None:
        self.state.reset()
        self.state.blocks = []
        self.state.circuits = [Circuit().plain() for _ in range(self.geometry.banks)]
        self.state.buffers = [Buffer().plain() for _ in range(BUFFERS)]
        self.dram.reset()
        self.state.dram = self.dram.plain()
        self.state.counts = [0] * len(OWN_COUNTS)
        self.state.overflows = []
        self.reload()

    def sync(self) -> None:
        tracing.report_until(self, self.device.frontier(self), 0, exactly=True)
        tracing.flush_tally(self)
        super().sync()
        self.state.blocks = [block.plain() for block in self.blocks]
        self.state.buffers = [buffer.plain() for buffer in self.buffers]
        self.state.circuits = [circuit.plain() for circuit in self.circuits]
        self.state.sent = self.host_until
        self.state.dram = self.dram.plain()
        self.state.counts = list(self.counts.values())
        self.state.overflows = self.overflows.plain()

    def reload(self) -> None:
        super().reload()
        self.last_break = None
        self._break_moments.clear()
        self.tally.clear()
        self.tally_end, self.tally_block = UNKNOWN, None
        self.blocks = [Block.of(plain) for plain in self.state.blocks]
        self.buffers = [Buffer.of(plain) for plain in self.state.buffers]
        self.circuits = [Circuit.of(plain) for plain in self.state.circuits]
        self.host_until = self.state.sent
        self.buffer_banks = None
        self.dram.take(self.state.dram)
        self.counts = dict(zip(OWN_COUNTS, self.state.counts, strict=True))
        self.overflows.take(self.state.overflows)
