"""A core of the scalar base: fetching, the fast engine, accesses, waiting.

Instructions run one after the other, each for its cost. Those that touch nothing but
registers and plain local memory run in the fast way (`macaw.emu.scalar.code`, and as Python
functions where they are hot); all others, and all of them while somebody listens or with the
reference engine, one by one in the plain way (`_one`). All have their meaning from the same acts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from macaw.emu.address_space import MAPPED, REGION_SHIFT
from macaw.emu.breaks import Break, Probe
from macaw.emu.core import NEVER
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Fault, Stop
from macaw.emu.origins import Origins
from macaw.emu.scalar import semantics, tracing
from macaw.emu.scalar.code import ACTS, ENDS, Code
from macaw.emu.scalar.csrs import Csrs
from macaw.emu.scalar.origins import Registers
from macaw.emu.scalar.probing import Probing
from macaw.emu.scalar.semantics import LOADS, MASK, SINK, STORES, Leave
from macaw.emu.scalar.state import FIELDS, extended
from macaw.emu.scalar.tallying import Tallying
from macaw.emu.scalar.timing import Timing
from macaw.emu.scalar.translation import Translator
from macaw.emu.state import StateField
from macaw.emu.system import Startable
from macaw.emu.windows import WindowNotReady
from macaw.isa.codec import Decoded
from macaw.isa.model import Core as Table
from macaw.isa.rows import Instruction

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.endpoints import Endpoint
    from macaw.emu.ports import Port

STACK_POINTER = 2  # x2


class Hart(Tallying, Startable):
    """A scalar core; `services` holds what its own instructions do, by name, beside the base's."""

    translator: type[Translator] = Translator
    halts = True
    probed = True
    inlines = "x"
    asks = True

    def __init__(
        self,
        device: Device,
        table: Table,
        name: str,
        number: int,
        services: Iterable[ModuleType] = (),
        fields: Iterable[StateField] = (),
    ) -> None:
        super().__init__(device, table, name, number, (*FIELDS, *fields))
        self.timing = Timing(device.config, table.name)
        self.divider = self.timing.divider
        self.port: Port = device.memory.port(self)
        self.csrs = Csrs(self)
        self.code = Code(self)
        self.traced = Code(self, True)  # of which the tally is kept while it runs
        self.probing = Probing(self)
        self.fast = device.engine == ENGINES[0]
        self.x = [0] * (SINK + 1)
        self.pc = 0
        self._services = self._bind_services((semantics, *services))

    def _bind_services(
        self, modules: Iterable[ModuleType]
    ) -> dict[str, Callable[..., Stop | None]]:
        """The function of each row that is neither an act nor the end of a run."""
        found = {}
        for row in self.table.instructions:
            if self.serves(row):
                module = next(m for m in modules if hasattr(m, _name_in(row.mnemonic)))
                found[row.mnemonic] = semantics.meaning(module, row.mnemonic)
        return found

    def serves(self, row: Instruction) -> bool:
        """Whether a function of the core's services does this row."""
        return row.family not in ACTS | ENDS

    # The contract

    @property
    def stack_end(self) -> int:
        """Where the stack pointer starts: the end of local memory."""
        return self.device.memory.local_bytes

    @property
    def next_address(self) -> int | None:
        return self.pc if self.running else None

    def start(self, entry: int, time: int) -> None:
        """Start at `entry`, the stack pointer at its place."""
        self.pc = entry
        self.x[STACK_POINTER] = self.stack_end & MASK
        if self.probes:
            self.probing.started((self.inlines, STACK_POINTER))
        self.running = True
        self.time = self.aligned(time)

    def counters(self) -> dict[str, int]:
        return {"instructions": self.retired, "cycles_waiting": self.waited}

    def sync(self) -> None:
        self.flush()
        super().sync()
        self.state.pc = self.pc
        self.state.x[:] = self.x[:SINK]
        self.state.pending = self._pending

    def reload(self) -> None:
        super().reload()
        self.pc = self.state.pc
        self.x[:SINK] = self.state.x.tolist()
        self._pending = self.state.pending
        self.tally.clear()
        self._marks = False
        self.probing.doing = None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        assert self._pending is not None
        place, size, is_signed = self._pending
        if place is not None:
            self.x[place] = extended(int.from_bytes(data, "little"), size, is_signed)
        if self.waiting is not None:
            self.time = self.waiting.since
        self._pending = self.waiting = None
        self.retire(self.aligned(ready))

    def advance(self, limit: int) -> Stop | None:
        self._shared = False
        if self.listeners:
            if self.retired >= self.trace.open_at:
                self.open_groups()
            return self._one()
        if not self.fast:
            return self._plainly(limit)
        if self.tracing:
            stop = tracing.advance(self, limit)
            if stop is not None or self._shared or self.time >= limit:
                return stop
        runs, steps, code, blocks = self.code.runs, self.code.steps, self.code, self.code.blocks
        pc, time, retired = self.pc, self.time, self.retired
        while time < limit:
            block = blocks.get(pc)
            if block is not None and time + block.lead < limit:
                self.pc, self.time, self.retired = pc, time, retired
                if block.function(self, limit):
                    code.left(pc, self.retired - retired)
                    stop = self._one() if self.time < limit else None
                    if stop is not None or self._shared:
                        return stop
                if self._shared:
                    return None
                pc, time, retired = self.pc, self.time, self.retired
                continue
            run = runs.get(pc)
            if run is None:
                self.pc, self.time, self.retired = pc, time, retired
                run = code.run(pc)
                if self._shared:
                    return None
            if time + run.lead >= limit:
                run = steps.get(pc)
                if run is None:
                    self.pc, self.time, self.retired = pc, time, retired
                    run = code.step(pc)
                    if self._shared:
                        return None
            acts, end, _, length, costs, _, _ = run
            try:
                for act in acts:
                    act()
                following, cost = end()
            except Leave as leave:
                place = leave.place
                self.pc, self.time, self.retired = (
                    pc + 4 * place,
                    time + costs[place],
                    retired + place,
                )
                stop = self._one()
                if stop is not None or self._shared:
                    return stop
                pc, time, retired = self.pc, self.time, self.retired
            else:
                if following != pc + 4 * length:
                    code.arrived(following)
                pc = following
                time += cost
                retired += length
        self.pc, self.time, self.retired = pc, time, retired
        return None

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        old = self.breaks
        super().set_breaks(breaks)
        both = old.keys() & breaks.keys()
        changed = (old.keys() | breaks.keys()) - {x for x in both if old[x] == breaks[x]}
        for code in (self.code, self.traced):
            code.rebind(changed)

    def set_probes(self, probes: Iterable[Probe]) -> None:
        old = self.probes
        super().set_probes(probes)
        if self.probes != old:
            self.probing.changed()
            for code in (self.code, self.traced):
                code.clear()

    def translates(self, found: Decoded) -> bool:
        """Whether an instruction may be part of a translated block."""
        return found.row.family in ACTS | ENDS

    # The plain way: one instruction

    def _plainly(self, limit: int) -> Stop | None:
        """The reference: one instruction after the other."""
        while self.time < limit:
            if self.retired >= self.trace.open_at:
                self.open_groups()
            stop = self._one()
            if stop is not None or self._shared:
                return stop
        return None

    def _one(self) -> Stop | None:
        """Do the instruction at `pc`, or let it wait. Raises `Fault`, with nothing changed."""
        if self.breaks:
            stop = self.halted(self.pc)
            if stop is not None:
                return stop
        found = self.code.fetch(self.pc)
        if self.probes:
            self.probing.doing = found
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
            raise self._misaligned(found) from None
        until = self.time + cost
        if self.probes:
            self.probing.behind()
        if self.listeners or self.tracing:
            self.ending(until, self.uses(found.row))
        self.pc = following
        self.time = until
        self.retired += 1
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def _misaligned(self, found: Decoded) -> Fault:
        """What a jump or branch gives that would go to an address between instructions."""
        values = found.values
        if "target" in values:
            target = self.pc + values["target"] & MASK
        else:
            target = self.x[values["rs1"]] + values["imm"] & MASK - 1
        return Fault(
            "misaligned access",
            f"{found.row.mnemonic} to {target:#010x}, which is no multiple of 4",
            {"address": target, "size": 4},
        )

    def _load(self, found: Decoded) -> None:
        size, is_signed = LOADS[found.row.mnemonic]
        place = found.values["rd"] or SINK
        address = self.x[found.values["rs1"]] + found.values["imm"] & MASK
        self.beginning(address)
        answer = self.port.load(self.time, address, size)
        self.note(address)
        if answer is None:
            self._pending = (place, size, is_signed)
            self._await(f"a load of {address:#010x}")
            return
        value, ready = answer
        self.x[place] = extended(value, size, is_signed)
        is_local = address < self.device.memory.local_bytes
        self.retire(self.time + self.timing.local if is_local else self.aligned(ready))

    def _store(self, found: Decoded) -> None:
        size = STORES[found.row.mnemonic]
        address = self.x[found.values["rs1"]] + found.values["imm"] & MASK
        self.beginning(address)
        ready = self.port.store(self.time, address, size, self.x[found.values["rs2"]])
        self.note(address)
        if ready is None:
            self._pending = (None, 0, False)
            self._await(f"a store to {address:#010x}")
            return
        is_local = address < self.device.memory.local_bytes
        self.retire(self.time + self.timing.store if is_local else self.aligned(ready))

    def _await(self, what: str) -> None:
        """Wait for the arbiter's answer to an access."""
        self._shared = True
        self.wait(what)

    def _serve(self, found: Decoded) -> Stop | None:
        """Do an instruction that asks something of others; it may wait or stop the run."""
        values = dict(found.values)
        if values.get("rd") == 0:
            values["rd"] = SINK
        self.device.cycle = self.time  # others may have to be brought to the present
        stop = self._services[found.row.mnemonic](self, **values)
        if self.time == NEVER:
            return None
        self.proceed()
        self.retire(self.time + self.timing.of_family[found.row.family])
        if stop is not None and stop.reason == "exit":
            self.running = False
            self.time = NEVER
        return stop

    def note(self, address: int) -> None:
        """Return to the clock after an access to a window or register: its core may go on now."""
        region = address >> REGION_SHIFT
        if region == MAPPED or region in self.device.memory.windowed:
            self.ask()

    def put_off(self, later: WindowNotReady) -> None:
        """Try the instruction again when a window may be ready."""
        self.ask()
        self.postpone(later)

    def retire(self, time: int, until: int | None = None, uses: int = 0) -> None:
        """The instruction ends at `until` (None: at `time`); the next one begins at `time`.

        It used so many compute units.
        """
        if self.probes:
            self.probing.behind()
        if self.listeners or self.tracing:
            self.ending(time if until is None else until, uses)
        if self.waiting is not None:
            self.proceed()
        self.pc = self.pc + 4 & MASK
        self.retired += 1
        self.time = time
        if self.retired >= self.trace.close_at:
            self.close_groups()

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = Registers(self, number)
        return self.origins

    # What services use

    def exit(self, code: int) -> Stop | None:
        """The stop of `ecall` 93."""
        after = self.time + self.timing.of_family["system"]
        return Stop("exit", after, f"exit with code {code}", code, core=self.name, address=self.pc)

    def breakpoint(self) -> Stop:
        """The stop of `ebreak`; a run that goes on does so behind it."""
        after = self.time + self.timing.of_family["system"]
        message = f"{self.name}: ebreak at {self.pc:#010x}"
        return Stop("breakpoint", after, message, core=self.name, address=self.pc)

    def write_file(self, number: int, address: int, length: int) -> None:
        """Give bytes to the host's file 1 or 2. Raises `Fault` (out-of-range access)."""
        self.ask()
        data = self.device.memory.peek(address, length)
        (self.device.stdout if number == 1 else self.device.stderr)(data)


def _name_in(mnemonic: str) -> str:
    return mnemonic.replace(".", "_")
