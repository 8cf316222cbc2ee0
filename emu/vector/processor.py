"""The SIMD core: one instruction a cycle at most, in order, results by a scoreboard.

An instruction that issues at cycle t has its effects at t; the scoreboard says from which
cycle on its result may be used. An access to memory holds the issue until the memory has
taken it: until the grant of its banks, or until the channel of external memory is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import NEVER, Units
from macaw.emu.faults import Stop
from macaw.emu.origins import Origins
from macaw.emu.scalar import tracing
from macaw.emu.scalar.code import ENDS
from macaw.emu.scalar.hart import Hart
from macaw.emu.scalar.semantics import SINK, Act, Decision, Leave
from macaw.emu.scalar.state import extended
from macaw.emu.tallies import ARRAY, INDEX, UNIT
from macaw.emu.vector.accesses import Accesses
from macaw.emu.vector.binding import bind, real_type
from macaw.emu.vector.origins import VectorRegisters
from macaw.emu.vector.scoreboard import SERVED, Timing, waits, writes
from macaw.emu.vector.state import FIELDS, FIRST_VECTOR, PLACES
from macaw.emu.vector.state import STORES as LAST_STORE
from macaw.emu.vector.translation import VectorTranslator, translates
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.rows import Instruction
from macaw.isa.vector import CORE, OPERATIONS, units_used
from macaw.isa.vector_layouts import VECTOR_BYTES

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.endpoints import Endpoint

READS, WRITES, PARTIAL = (INDEX[f"external_{what}"] for what in ("reads", "writes", "partial"))


class Bound(NamedTuple):
    """An instruction made ready at its address."""

    word: int
    found: Decoded
    waits: tuple[int, ...]  # places of the scoreboard
    writes: tuple[int, ...]
    latency: int  # device cycles
    act: Act | None  # what goes on with the next instruction, and waits for nobody
    decide: Decision | None  # a branch or jump
    products: int  # of pmac
    uses: int  # of compute units


class Processor(Hart):
    """The one core of the table vc."""

    translator = VectorTranslator

    def __init__(self, device: Device) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, fields=FIELDS)
        self.timing = Timing(device.config, CORE.name)
        self.vr = self.state.vr  # changed in place, by the engine and by a restore
        self.ready = [0] * PLACES
        self.cycles_operands = self.cycles_memory = self.cycles_branches = self.products = 0
        self.accesses = Accesses(self)
        self._types: dict[int, np.dtype[Any] | None] = {}  # by vector register
        self._bound: dict[int, Bound] = {}  # by address; each holds the word that it was made of

    def serves(self, row: Instruction) -> bool:
        return row.family in SERVED

    def translates(self, found: Decoded) -> bool:
        return translates(self, found)

    # The contract

    @property
    def stack_end(self) -> int:
        """The end of external memory, from which vc executes."""
        return EXTERNAL + self.device.memory.external_bytes

    def counters(self) -> dict[str, int]:
        return {
            "instructions": self.retired,
            "cycles_operands": self.cycles_operands,
            "cycles_memory": self.cycles_memory,
            "cycles_branches": self.cycles_branches,
            "products": self.products,
        }

    def sync(self) -> None:
        super().sync()
        # What is over is 0: engines need not remember it.
        now = self.time if self.waiting is None else self.waiting.since
        self.state.ready[:] = [time if time > now else 0 for time in self.ready]
        for name, value in self.counters().items():
            if name != "instructions":
                setattr(self.state, name, value)

    def reload(self) -> None:
        super().reload()
        self.ready = self.state.ready.tolist()
        self._types = {}
        self.cycles_operands = self.state.cycles_operands
        self.cycles_memory = self.state.cycles_memory
        self.cycles_branches = self.state.cycles_branches
        self.products = self.state.products

    def advance(self, limit: int) -> Stop | None:
        self._shared = False
        blocks = self.code.blocks if self.fast and not self.listeners else {}
        with np.errstate(all="ignore"):  # what NumPy warns of is what the instructions mean
            if self.tracing:
                stop = self._advance_traced(limit)
                if stop is not None:
                    return stop
            while self.time < limit and not self._shared:
                block = blocks.get(self.pc)
                if block is not None and self.time + block.lead < limit:
                    start, before = self.pc, self.retired
                    is_plain = block.function(self, limit)
                    if not is_plain:
                        continue
                    self.code.left(start, self.retired - before)
                    if self.time >= limit:
                        continue
                stop = self._one_by(limit)
                if stop is not None:
                    return stop
        return None

    def _advance_traced(self, limit: int) -> Stop | None:
        """As `advance`, to where nothing is recorded any more. Raises `Fault`."""
        trace, code = self.trace, self.traced
        blocks = code.blocks if self.fast and not self.listeners else {}
        while self.tracing and self.time < limit and not self._shared:
            if self.retired >= trace.open_at:
                self.open_groups()
            block = blocks.get(self.pc)
            if block is not None and self.time + block.lead < limit:
                border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
                room = border - self.retired
                if room < block.length:
                    block = code.cut(self.pc)
                if block is not None:
                    is_plain = tracing.ran(self, block, limit, room)
                    if self.retired >= trace.close_at:
                        self.close_groups()
                    if not is_plain or self.time >= limit:
                        continue
            stop = self._one_by(limit)
            if stop is not None:
                return stop
        return None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        assert self._pending is not None
        assert self.waiting is not None
        self.time = self.waiting.since
        place, size, is_signed = self._pending
        self._pending = self.waiting = None
        if place is None:
            self.stored(time, ready)
        elif place >= FIRST_VECTOR:
            self.vr[place - FIRST_VECTOR] = np.frombuffer(data, np.uint8)
            self.loaded(place, time, ready)
        else:
            self.x[place or SINK] = extended(int.from_bytes(data, "little"), size, is_signed)
            self.loaded(place, time, ready)

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = VectorRegisters(self, number)
        return self.origins

    # Issue

    def _one_by(self, limit: int) -> Stop | None:
        """Issue the next instruction, if that can be before `limit`. Raises `Fault`."""
        bound = self._fetched()
        if self.probes:
            self.probing.doing = bound.found
        time = self.time
        for place in bound.waits:
            if self.ready[place] > time:
                time = self.ready[place]
        if time > self.time:
            self.cycles_operands += (time - self.time) // self.divider
            self.time = time
            if time >= limit:
                return None
        if self.breaks:
            stop = self.halted(self.pc)
            if stop is not None:
                return stop
        if self.listeners:
            self.announce("instruction", address=self.pc)
            self._note_type(bound.found)
        family = bound.found.row.family
        if bound.act is not None:
            bound.act()
            for place in bound.writes:
                self.ready[place] = time + bound.latency
            self.products += bound.products
            until = time + max(bound.latency, self.divider)
            self.retire(time + self.divider, until, bound.uses)
            return None
        if bound.decide is not None:
            self._go(bound)
            return None
        if family in SERVED:
            return self._serve(bound.found)
        try:
            self.accesses.do(bound.found)
        except WindowNotReady as later:
            self.put_off(later)
        return None

    def _note_type(self, found: Decoded) -> None:
        """Keep of which type of real numbers a vector register is, for `not_numbers`."""
        for place in writes(found):
            if place >= FIRST_VECTOR:
                self._types[place - FIRST_VECTOR] = real_type(found.row)

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """See `Core.not_numbers`: of vector registers by the instructions that wrote them."""
        found = np.zeros(len(self.vr), np.bool_)
        for number, dtype in self._types.items():
            found[number] = dtype is not None and bool(np.isnan(self.vr[number].view(dtype)).any())
        return {"vr": found}

    def _fetched(self) -> Bound:
        """The instruction at `pc`, made ready. Raises `Fault`."""
        pages, offset = self.code.locate(self.pc)
        word = pages.words[offset >> 2]
        bound = self._bound.get(self.pc)
        if bound is None or bound.word != word:
            bound = self._bound[self.pc] = self._bind(word)
        return bound

    def _bind(self, word: int) -> Bound:
        found = self.code.fetch(self.pc)
        family, mnemonic = found.row.family, found.row.mnemonic
        latency = self.timing.of_family[family]
        act: Act | None = None
        decide: Decision | None = None
        products = 0
        if family in ENDS:
            decide = self.code.step(self.pc).end
            latency = self.timing.alu
        elif mnemonic in OPERATIONS:
            act, products = bind(self, found)
        elif family not in (*SERVED, "load", "store"):
            (act,) = self.code.step(self.pc).acts
        used = self.uses(found.row)
        return Bound(word, found, waits(found), writes(found), latency, act, decide, products, used)

    def _go(self, bound: Bound) -> None:
        """Do a branch or jump."""
        assert bound.decide is not None
        try:
            following, cost = bound.decide()
        except Leave:
            raise self._misaligned(bound.found) from None
        for place in bound.writes:
            self.ready[place] = self.time + bound.latency
        self.cycles_branches += cost // self.divider - 1
        if self.probes:
            self.probing.behind()
        if self.listeners or self.tracing:
            until = self.time + (max(bound.latency, cost) if bound.writes else cost)
            self.ending(until, 0)
        if self.fast and following != self.pc + 4:
            (self.traced if self.tracing else self.code).arrived(following)
        self.pc = following
        self.time += cost
        self.retired += 1
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def _serve(self, found: Decoded) -> Stop | None:
        """Do an instruction that asks something of the host or of the core itself."""
        values = dict(found.values)
        if values.get("rd") == 0:
            values["rd"] = SINK
        self.device.cycle = self.time
        stop = self._services[found.row.mnemonic](self, **values)
        time = self.time
        latency = self.timing.of_family[found.row.family]
        for place in writes(found):
            self.ready[place] = time + latency
        self.retire(time + self.divider, time + max(latency, self.divider))
        if stop is not None and stop.reason == "exit":
            self.running = False
        if not self.running:
            self.time = NEVER
            self.device.changed(self, time)
            self._shared = True
        return stop

    def exit(self, code: int) -> Stop | None:
        """`ecall` 93: with 0 the core is done and the others go on, else the run ends."""
        if code:
            return super().exit(code)
        self.running = False
        return None

    # The trace

    def units(self) -> Units:
        """The lanes of a byte of the vector unit."""
        return Units(VECTOR_BYTES, 1, store=VECTOR_BYTES)

    def uses(self, row: Instruction) -> int:
        return units_used(row)

    def took(
        self,
        begun: int,
        until: int,
        first: int,
        used: int,
        lanes: int,
        arrays: int,
        first_read: int = 0,
        read: int = 0,
        reads: int = 0,
        first_write: int = 0,
        written: int = 0,
        writes: int = 0,
        partial: int = 0,
    ) -> None:
        """Add to the tally what a block did, with its accesses to external memory.

        `read` and `written` are the begins of the last ones, that of the last beat of all is the
        end of what it holds.
        """
        tally = self.tally
        if tally.begin < 0:
            tally.begin = begun
        if arrays:
            tally.occurred(UNIT, first, used, lanes)
            tally.occurred(ARRAY, first, used, arrays)
        delay = self.device.memory.channel.latency + 1
        if reads:
            self.port.external_reads += reads
            tally.occurred(READS, first_read, read + delay, reads)
            until = max(until, self.aligned(read + delay))
        if writes:
            self.port.external_writes += writes
            tally.occurred(WRITES, first_write, written + delay, writes)
            until = max(until, self.aligned(written + delay))
        if partial:
            self.port.external_partial += partial
            tally.occurred(PARTIAL, first_write, written + delay, partial)
        if until > tally.until:
            tally.until = until

    # What accesses use

    def taken(self, time: int, ready: int) -> None:
        """The memory has taken the access in cycle `time`: the next instruction follows."""
        following = self.aligned(time + 1)
        self.cycles_memory += (following - self.time) // self.divider - 1
        self.retire(following, max(following, ready))

    def loaded(self, place: int, time: int, ready: int) -> None:
        """A load was taken in cycle `time`, its register can be used from `ready` on."""
        ready = self.aligned(ready)
        if place:
            self.ready[place] = ready
        self.taken(time, ready)

    def stored(self, time: int, ready: int) -> None:
        """A store was taken in cycle `time`, memory has it from `ready` on."""
        ready = self.aligned(ready)
        self.ready[LAST_STORE] = max(self.ready[LAST_STORE], ready)
        self.taken(time, ready)

    def await_port(self, what: str, place: int | None, size: int = 0, signed: bool = False) -> None:
        """Wait for the banks; `place` is that of the register to be loaded, None of a store."""
        self._pending = (place, size, signed)
        self._await(what)
