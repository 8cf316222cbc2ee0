"""The interpreter of a scalar core of RV32IM: single instructions, accesses and waits.

Instructions execute one after the other. The timing of the core says how many cycles each takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType

from macaw.emu.endpoints import Endpoint
from macaw.emu.faults import Stop
from macaw.emu.origins import Origins
from macaw.emu.scalar import services
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.origins import RegisterOrigins
from macaw.emu.scalar.run_cache import RunCache
from macaw.emu.scalar.runs import ACTS, ENDS, arguments, misaligned_target
from macaw.emu.scalar.semantics import LOADS, MASK, SINK, STORES, Leave
from macaw.emu.scalar.state import sign_extend
from macaw.emu.state import StateField
from macaw.emu.system import System
from macaw.emu.waits import NEVER
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.model import Core as Table


class Hart(ScalarCore):
    """A scalar core that interprets its instructions.

    `modules` define the functions of the instructions that are not in RV32IM, one per mnemonic.
    """

    def __init__(
        self,
        device: System,
        table: Table,
        name: str,
        number: int,
        modules: Iterable[ModuleType] = (),
        fields: Iterable[StateField] = (),
    ) -> None:
        super().__init__(device, table, name, number, fields)
        self.code = RunCache(self)
        rows = [row for row in table.instructions if row.family not in ACTS | ENDS]
        self._services = services.bind(rows, modules)

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Finish the access to on-chip memory that is granted now: write a loaded register."""
        assert self.pending is not None
        place, size, is_signed = self.pending
        if place is not None:
            self.x[place] = sign_extend(int.from_bytes(data, "little"), size, is_signed)
        if self.waiting is not None:
            self.time = self.waiting.since
        self.pending = self.waiting = None
        self.retire(self.aligned(ready))

    def interpret(self) -> Stop | None:
        """Execute the instruction at `pc`, or start to wait. Raises `Fault` before any change."""
        if self.breaks:
            stop = self.break_stop(self.pc)
            if stop is not None:
                return stop
        found = self.decoder.fetch(self.pc)
        if self.probes:
            self.executing = found
        if self.listeners and self.waiting is None:
            self.announce("instruction", address=self.pc)
        row = found.row
        if row.mnemonic in LOADS or row.mnemonic in STORES:
            try:
                (self._load if row.mnemonic in LOADS else self._store)(found)
            except WindowNotReady as later:
                self.put_off(later)
        elif row.family in ACTS | ENDS:
            self._step(found)
        else:
            return self._serve(found)
        return None

    def _step(self, found: Decoded) -> None:
        run = self.code.step(self.pc)
        try:
            for act in run.acts:
                act()
            following, cost = run.end()
        except Leave:
            raise misaligned_target(self, found) from None
        until = self.time + cost
        if self.probes:
            self.test_probes()
        if self.listeners or self.tracing:
            self.record_end(until, self.uses(found.row))
        self.pc = following
        self.time = until
        self.retired += 1
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def _load(self, found: Decoded) -> None:
        size, is_signed = LOADS[found.row.mnemonic]
        place = found.values["rd"] or SINK
        address = self.x[found.values["rs1"]] + found.values["imm"] & MASK
        self.record_try(address)
        answer = self.port.load(self.time, address, size)
        self.note_access(address)
        if answer is None:
            self.pending = (place, size, is_signed)
            self.await_answer(f"a load of {address:#010x}")
            return
        value, ready = answer
        self.x[place] = sign_extend(value, size, is_signed)
        is_local = address < self.device.memory.local_bytes
        self.retire(self.time + self.timing.local if is_local else self.aligned(ready))

    def _store(self, found: Decoded) -> None:
        size = STORES[found.row.mnemonic]
        address = self.x[found.values["rs1"]] + found.values["imm"] & MASK
        self.record_try(address)
        ready = self.port.store(self.time, address, size, self.x[found.values["rs2"]])
        self.note_access(address)
        if ready is None:
            self.pending = (None, 0, False)
            self.await_answer(f"a store to {address:#010x}")
            return
        is_local = address < self.device.memory.local_bytes
        self.retire(self.time + self.timing.store if is_local else self.aligned(ready))

    def _serve(self, found: Decoded) -> Stop | None:
        """Execute an instruction that calls a service, which may wait or stop the program."""
        self.device.cycle = self.time  # a service may make other cores do skipped acts
        stop = self._services[found.row.mnemonic](self, **arguments(found))
        if self.time == NEVER:
            return None
        self.proceed()
        self.retire(self.time + self.timing.of_family[found.row.family])
        if stop is not None and stop.reason == "exit":
            self.running = False
            self.time = NEVER
        return stop

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record where values come from. Return the record.

        `number` returns how many events the device has announced to listeners so far.
        """
        self.origins = RegisterOrigins(self, number)
        return self.origins
