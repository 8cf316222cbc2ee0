"""The base class of scalar cores: registers, the decoder, the end of an instruction, its trace.

The interpreters (`macaw.emu.scalar.hart`, `macaw.emu.vector.interpreter`) and the engines extend
this class. While the trace records, each instruction adds what it does to a tally, which holds
counts for the trace. A border is an instruction before which a register group of the trace block
opens or closes. At the next border, the trace block adds the tally to the groups that are open.
"""

from __future__ import annotations

from collections.abc import Iterable

from macaw.emu.address_space import MAPPED, ONCHIP, REGION_SHIFT
from macaw.emu.breaks import Instrumented, Probe
from macaw.emu.core import Core
from macaw.emu.faults import Fault, Stop
from macaw.emu.pages import Sleeper
from macaw.emu.ports import Port
from macaw.emu.scalar.decoder import Decoder
from macaw.emu.scalar.probes import Probes
from macaw.emu.scalar.semantics import MASK, SINK
from macaw.emu.scalar.special_values import VALUES
from macaw.emu.scalar.state import FIELDS
from macaw.emu.scalar.timing import Timing
from macaw.emu.state import StateField
from macaw.emu.system import Startable, System
from macaw.emu.tallies import INDEX, Tally
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.model import Core as Table
from macaw.isa.rows import Instruction
from macaw.isa.trace import MARK

STACK_POINTER = 2  # number of the register x2
# instruction families whose instructions use the ALU
COMPUTING = frozenset({"register", "immediate", "upper", "multiply", "divide"})


class ScalarCore(Core, Startable, Instrumented):
    """A core that executes one instruction at a time, with the general registers `x`."""

    inlines = "x"

    def __init__(
        self,
        device: System,
        table: Table,
        name: str,
        number: int,
        fields: Iterable[StateField] = (),
    ) -> None:
        super().__init__(device, table, name, number, (*FIELDS, *fields))
        self.timing = Timing(device.config, table.name)
        self.divider = self.timing.divider
        self.port: Port = device.memory.port(self)
        self.decoder = Decoder(table, device.memory, self._wake)
        self.specials = {row.address: row for row in table.specials}
        self.x = [0] * (SINK + 1)
        self.pc = 0
        # The access to on-chip memory that has begun: number of the register, bytes, signed.
        self.pending: tuple[int | None, int, bool] | None = None
        # whether `advance` must return after the present act (see `ask`)
        self.shared = False
        self.probe_set = Probes(table)
        # the instruction at `pc`, if there are probes; else None
        self.executing: Decoded | None = None
        self.tally = Tally()
        self.is_marker = False  # whether the instruction is a marker, which is not recorded
        # The fault of a trace record that could not be written while a translated block ran. The
        # engine raises it after the block.
        self.spill_fault: Fault | None = None

    # What the device calls

    @property
    def stack_end(self) -> int:
        """The initial value of the stack pointer: the end of local memory."""
        return self.device.memory.local_bytes

    @property
    def next_address(self) -> int | None:
        return self.pc if self.running else None

    def start(self, entry: int, time: int) -> None:
        """Start at address `entry` in cycle `time` or later, with an empty stack."""
        self.pc = entry
        self.x[STACK_POINTER] = self.stack_end & MASK
        self.probe_set.report_write((self.inlines, STACK_POINTER), self.pc)
        self.running = True
        self.time = self.aligned(time)

    def counters(self) -> dict[str, int]:
        return {"instructions": self.retired, "cycles_waiting": self.waited}

    def sync(self) -> None:
        self.flush_tally()
        super().sync()
        self.state.pc = self.pc
        self.state.x[:] = self.x[:SINK]
        self.state.pending = self.pending

    def reload(self) -> None:
        super().reload()
        self.last_break = None
        self.pc = self.state.pc
        self.state.x[0] = 0  # the register zero drops what is written, also what a debugger writes
        self.x[:SINK] = self.state.x.tolist()
        self.pending = self.state.pending
        self.tally.clear()
        self.is_marker = False
        self.executing = None

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Replace all probes.

        A probe is a test for the debugger, made after instructions that access certain registers.
        """
        super().set_probes(probes)
        self.probe_set = Probes(self.table, self.probes)
        self.executing = None

    def ask(self) -> None:
        """Make `advance` return after the present instruction: another core may have to act now."""
        self.shared = True

    def _wake(self, sleeper: Sleeper) -> None:
        """Make `sleeper` do the acts that it has skipped, so that its writes are in memory.

        `sleeper` is a core that may have skipped writes to the memory from which this core fetches.
        """
        sleeper.interrupt(self.time)
        self.ask()

    def special_register(self, address: int) -> int | None:
        """Return the bits of the control and status register with the address `address`.

        This has no effects on the core, in contrast to a read by a program. The result is None for
        a register of the trace block that belongs to no group.
        """
        name = self.specials[address].name
        if name in VALUES:
            return VALUES[name](self) & MASK
        try:
            return self.trace.read(name)
        except Fault:  # the register belongs to no group
            return None

    # The end of an instruction

    def uses(self, row: Instruction) -> int:
        """Return how many compute units an instruction occupies for as long as it executes."""
        return int(row.family in COMPUTING)

    def retire(self, time: int, until: int | None = None, uses: int = 0) -> None:
        """End the instruction in cycle `until` (None: `time`); the next one begins in cycle `time`.

        `uses` is the number of compute units that the instruction used.
        """
        if self.probes:
            self.test_probes()
        if self.listeners or self.tracing:
            self.record_end(time if until is None else until, uses)
        if self.waiting is not None:
            self.proceed()
        self.pc = self.pc + 4 & MASK
        self.retired += 1
        self.time = time
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def test_probes(self) -> None:
        """Make the tests of all probes that are due after the instruction at `pc`, just
        executed.
        """
        for probe in self.probe_set.of(self.executing or self.decoder.fetch(self.pc)):
            if probe.test is None or probe.test():
                if self.device.acting is self:
                    self.device.cycle = self.time
                self.ask()
                probe.met(self.pc)

    def note_access(self, address: int) -> None:
        """Make `advance` return if `address` is in a window or register of another core.

        The access may be the reason for that core to act now.
        """
        region = address >> REGION_SHIFT
        if region == MAPPED or region in self.device.memory.windowed:
            self.ask()

    def put_off(self, later: WindowNotReady) -> None:
        """Make the core try the present instruction again when the window may be ready.

        `later` says which window that is, and when to try again.
        """
        self.ask()
        self.postpone(later)

    def await_answer(self, what: str) -> None:
        """Wait for the arbiter's answer to an access. `what` describes the access."""
        self.shared = True
        self.wait(what)

    # What services use

    def exit(self, code: int) -> Stop | None:
        """Return the stop of `ecall` 93, which ends the program with exit code `code`.

        A subclass returns None if the call ends only its own core.
        """
        after = self.time + self.timing.of_family["system"]
        return Stop("exit", after, f"exit with code {code}", code, core=self.name, address=self.pc)

    def breakpoint(self) -> Stop:
        """Return the stop of `ebreak`. A later run continues after this instruction."""
        after = self.time + self.timing.of_family["system"]
        message = f"{self.name}: ebreak at {self.pc:#010x}"
        return Stop("breakpoint", after, message, core=self.name, address=self.pc)

    def write_file(self, number: int, address: int, length: int) -> None:
        """Write `length` bytes at `address` to standard output (`number` 1) or standard error (2).

        Raises `Fault` (out-of-range access).
        """
        self.ask()
        data = self.device.memory.peek(address, length)
        (self.device.stdout if number == 1 else self.device.stderr)(data)

    # The trace

    @property
    def start_count(self) -> int:
        return self.retired + (self.pending is not None)

    def mark(self, begins: bool, group: int, time: int, until: int) -> None:
        """Execute a marker: it begins or ends the recording of the trace's register group `group`.

        `begins` distinguishes `trace_begin` from `trace_end`. The marker lasts from cycle `time` to
        `until`. In auto mode it is recorded like any other instruction. Raises `Fault` (bad mask)
        if there is no such group.
        """
        self.trace.check(group)
        if self.trace.state.trace_mode == MARK:
            self.flush_tally()
            self.is_marker = True
            super().mark(begins, group, time, until)

    def record_end(self, until: int, uses: int) -> None:
        """Report to trace and listeners that the instruction ends in cycle `until`.

        `uses` is the number of compute units that it used.
        """
        if self.is_marker:
            self.is_marker = False
        elif self.tracing:
            tally, time = self.tally, self.time
            if tally.begin < 0:
                tally.begin = time
            if until > tally.until:
                tally.until = until
            if uses:
                tally.count_units(time, until, uses, 1)
        if self.listeners:
            self.announce("done", begin=self.time, until=until)

    def record_try(self, address: int) -> None:
        """Report to the trace that an instruction with an access to `address` begins.

        Do so only for external memory, on-chip memory and memory-mapped registers. For all other
        addresses `record_end` reports the begin: a window may refuse an access, and the instruction
        then begins with the attempt that succeeds.
        """
        if self.tracing and (address >= EXTERNAL or address >> REGION_SHIFT in (ONCHIP, MAPPED)):
            self.tally.begin_instruction(self.time)

    def count_occurrence(
        self, what: str, time: int, until: int, count: int, number: int | None = None
    ) -> None:
        """Add `count` events of the kind `what` to the tally, in the cycles `time` to `until` - 1.

        `number` is ignored, because the events always belong to the present instruction.
        """
        self.tally.count_occurrence(INDEX[what], time, until, count)

    def trace_changed(self) -> None:
        self.tally.clear()
        self.ask()

    def flush_tally(self) -> None:
        """Add the tally to the trace's register groups that record now, and clear the tally."""
        if self.tracing:
            self.trace.absorb(self.tally, self.start_count, int(self.pending is not None))

    def open_groups(self) -> None:
        """Open the trace's register groups whose recording begins with the next instruction."""
        if self.tally.begin >= 0:
            self.flush_tally()
        self.trace.open(self.retired)

    def close_groups(self) -> None:
        """Close the trace's register groups whose recording ends with the last instruction.

        Raises `Fault` if a record cannot be written to the spill area.
        """
        self.trace.finish(self.tally, self.retired)
