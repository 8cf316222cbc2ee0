"""The interpreter of vc: it issues at most one instruction in a cycle, in program order.

An instruction that issues in cycle t has its effects in t. For each register, the scoreboard has
the cycle from which later instructions may use the result. After a load or store, no instruction
issues until memory has accepted the access: until its banks are granted, or until the channel of
external memory is free.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.endpoints import Endpoint
from macaw.emu.faults import Stop
from macaw.emu.origins import Origins
from macaw.emu.scalar import services
from macaw.emu.scalar.run_cache import RunCache
from macaw.emu.scalar.runs import ENDS, arguments, misaligned_target
from macaw.emu.scalar.semantics import SINK, Act, Decision, Leave
from macaw.emu.scalar.state import sign_extend
from macaw.emu.system import System
from macaw.emu.vector.accesses import Accesses
from macaw.emu.vector.binding import bind, real_type
from macaw.emu.vector.core import VectorCore
from macaw.emu.vector.origins import VectorOrigins
from macaw.emu.vector.scoreboard import SERVED, waits, writes
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.emu.waits import NEVER
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple
from macaw.isa.vector import OPERATIONS


class Bound(NamedTuple):
    """An instruction bound to its address and to the registers of the core.

    `waits` has the places on the scoreboard that must be ready before it issues, `writes` the
    places that it writes; they are ready after `latency` device cycles. `act` executes an
    instruction that waits only for registers and does not branch, `decide` a branch or jump.
    `products` is the number of products of a pmac, `uses` the number of uses of compute units.
    """

    word: int  # the instruction word
    found: Decoded
    waits: tuple[int, ...]
    writes: tuple[int, ...]
    latency: int
    act: Act | None
    decide: Decision | None
    products: int
    uses: int


class VectorInterpreter(VectorCore):
    """The core vc, interpreted one instruction at a time."""

    def __init__(self, device: System) -> None:
        super().__init__(device)
        self.code = RunCache(self)
        self.accesses = Accesses(self)
        rows = [row for row in self.table.instructions if row.family in SERVED]
        self._services = services.bind(rows)
        # by vector register: the type of its numbers
        self._types: dict[int, np.dtype[Any] | None] = {}
        self._bound: dict[int, Bound] = {}  # by address: the bound instruction

    def reload(self) -> None:
        super().reload()
        self._types = {}

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Finish the access to on-chip memory that is granted now: write a loaded register."""
        assert self.pending is not None
        assert self.waiting is not None
        self.time = self.waiting.since
        place, size, is_signed = self.pending
        self.pending = self.waiting = None
        if place is None:
            self.retire_store(time, ready)
        elif place >= FIRST_VECTOR:
            self.vr[place - FIRST_VECTOR] = np.frombuffer(data, np.uint8)
            self.retire_load(place, time, ready)
        else:
            self.x[place or SINK] = sign_extend(int.from_bytes(data, "little"), size, is_signed)
            self.retire_load(place, time, ready)

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record where values come from. Return the record.

        `number` returns how many events the device has announced to listeners so far.
        """
        self.origins = VectorOrigins(self, number)
        return self.origins

    def interpret(self, limit: int) -> Stop | None:
        """Issue the next instruction if it can issue before `limit`. Raises `Fault`."""
        bound = self._fetch()
        if self.probes:
            self.executing = bound.found
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
            stop = self.break_stop(self.pc)
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
            self._branch(bound)
            return None
        if family in SERVED:
            return self._serve(bound.found)
        try:
            self.accesses.execute(bound.found)
        except WindowNotReady as later:
            self.put_off(later)
        return None

    def _note_type(self, found: Decoded) -> None:
        """Record the type of the floating-point numbers that an instruction writes to a register.

        `not_numbers` uses this record.
        """
        for place in writes(found):
            if place >= FIRST_VECTOR:
                self._types[place - FIRST_VECTOR] = real_type(found.row)

    def not_numbers(self) -> Mapping[str, NDArray[np.bool_]]:
        """Return {"vr": a mask of the vector registers that contain a NaN}.

        The bytes of a register are read in the type of the instruction that wrote it last.
        """
        found = np.zeros(len(self.vr), np.bool_)
        for number, dtype in self._types.items():
            found[number] = dtype is not None and bool(np.isnan(self.vr[number].view(dtype)).any())
        return {"vr": found}

    def _fetch(self) -> Bound:
        """Return the instruction at `pc`, bound to its registers. Raises `Fault`."""
        pages, offset = self.decoder.locate(self.pc)
        word = pages.words[offset >> 2]
        bound = self._bound.get(self.pc)
        if bound is None or bound.word != word:
            bound = self._bound[self.pc] = self._bind(word)
        return bound

    def _bind(self, word: int) -> Bound:
        found = self.decoder.fetch(self.pc)
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

    def _branch(self, bound: Bound) -> None:
        """Execute the branch or jump `bound`."""
        assert bound.decide is not None
        try:
            following, cost = bound.decide()
        except Leave:
            raise misaligned_target(self, bound.found) from None
        for place in bound.writes:
            self.ready[place] = self.time + bound.latency
        self.cycles_branches += cost // self.divider - 1
        if self.probes:
            self.test_probes()
        if self.listeners or self.tracing:
            until = self.time + (max(bound.latency, cost) if bound.writes else cost)
            self.record_end(until, 0)
        if following != self.pc + 4:
            self.count_jump(following)
        self.pc = following
        self.time += cost
        self.retired += 1
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def count_jump(self, address: int) -> None:
        """Do nothing. The fast engine overrides this to count jumps and to translate hot code."""
        return

    def _serve(self, found: Decoded) -> Stop | None:
        """Execute an instruction that calls a service, which may stop the core or the program."""
        self.device.cycle = self.time
        stop = self._services[found.row.mnemonic](self, **arguments(found))
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
            self.shared = True
        return stop
