"""The device: its cores, its memory and the clock that lets them act in order.

A device is built from a configuration and the tables of `isa`. `macaw.emu.core_set` finds and makes
the cores, so the module here contains no name of a core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from macaw.asm.program import Program
from macaw.emu import saved, tensors
from macaw.emu.copies import original
from macaw.emu.core import Core, Listener, check_cores
from macaw.emu.core_set import CoreSet
from macaw.emu.engines import ENGINES
from macaw.emu.faults import DeviceError, Fault, Place, Stop
from macaw.emu.hashing import blake2b
from macaw.emu.snapshot import Snapshot, copy_device, snapshot_parts
from macaw.emu.state import Change, State, StateError, StateField
from macaw.emu.system import System
from macaw.emu.waits import NEVER

Builder = Callable[["Device"], list[Core]]


class Device(System):
    """A simulated device. After construction it is reset and has no program.

    `cores` has the cores by name (`cp`, `pe[0]`), `by_number` by number. `cycle` is the device
    time: all acts before it are done. The device calls `stdout` and `stderr` with the bytes that a
    program writes. `engine` is the name of the simulation engine (`ENGINES`); all engines give the
    same results and cycles. `jitter` is the seed of noise in the timing of DRAM
    (`macaw.emu.jitter`), None for no noise. `build` replaces the functions that make cores, for
    tests. Raises `DeviceError` for wrong arguments.
    """

    core_set: CoreSet[Core]

    def __init__(
        self,
        config: Mapping[str, Any],
        build: Iterable[Builder] | None = None,
        engine: str = ENGINES[0],
        jitter: int | None = None,
    ) -> None:
        if not isinstance(config, Mapping):
            raise DeviceError("a device is made of a Configuration: macaw.configuration('tiny')")
        if jitter is not None and not (isinstance(jitter, Integral) and jitter >= 0):
            raise DeviceError(f"the seed of jitter is a whole number from 0, not {jitter!a:.60}")
        if engine not in ENGINES:
            raise DeviceError(f"no engine is called '{engine}', there are {', '.join(ENGINES)}")
        super().__init__(config, engine, None if jitter is None else int(jitter))
        self.program: Program | None = None
        self.stopped: Stop | None = None  # the exit or fault that ended the run; None if none has
        self.pause: Callable[[], bool] | None = None  # called between acts; returns whether to stop
        # Called after each act with the core that acted, or None for the arbiter.
        self.on_act: Callable[[Core | None], object] | None = None
        self._request: Stop | None = None
        self.state = State(
            (
                StateField("cycle", "int", meaning="device time"),
                StateField("stopped", "object", meaning="the exit or fault that ended the run"),
            )
        )
        self.core_set = CoreSet(lambda function: function(self), self._start_late, build)
        self.memory.build(self.core_set)
        self.reset()

    def __repr__(self) -> str:
        state = "no program" if self.program is None else f"cycle {self.cycle:,}"
        stop = f", {self.stopped}" if self.stopped else ""
        name = getattr(self.config, "name", "")  # the user may pass a mapping, which has no name
        return f"<device{name and ' '}{name}: {state}{stop}>"

    def _start_late(self, cores: Sequence[Core]) -> None:
        """Add new `cores` to the memory system, reset them, and start or stop their traces."""
        self.memory.add(cores)
        for core in cores:
            core.reset()
            if self.program is not None:
                core.trace.start(0)
            if self.stopped is not None:
                core.trace.stop()

    @property
    def order(self) -> list[Core]:
        """All cores, ordered by number."""
        return self.core_set.all()

    @property
    def cores(self) -> dict[str, Core]:
        """All cores by name."""
        return {core.name: core for core in self.order}

    def reset(self) -> None:
        """Set everything to its state after reset and remove the program; listeners stay."""
        self.program = None
        self.cycle = self.last_change = 0
        self.stopped = self._request = None
        self.turn = -1
        self.memory.reset()
        for core in self.present:
            core.reset()

    # The host program

    def load(self, program: Program) -> None:
        """Reset the device, write the program's sections to memory, and start core 0 at the entry.

        Raises `DeviceError` if the program does not fit this device or has no entry.
        """
        if not isinstance(program, Program):
            raise DeviceError(
                f"a device loads a Program, not a value of type {type(program).__name__}"
            )
        self.reset()
        for section in program.sections:
            self._fits(f"section {section.name}", section.load_address, section.size)
            self.memory.poke(section.load_address, section.data)
        for tensor in program.tensors:
            self._fits(f"tensor {tensor.name}", tensor.address, tensor.size)
        if program.entry is None:
            raise DeviceError("the program has no entry")
        self.program = program
        for core in self.present:
            core.trace.start(0)
        self.start(0, program.entry, 0)

    def _fits(self, what: str, address: int, size: int) -> None:
        try:
            self.memory.locate(address, size, what)
        except Fault as fault:
            raise DeviceError(f"the program does not fit this device: {fault.message}") from None

    def write_tensor(self, name: str, array: object) -> None:
        """Write an array into the program's tensor of this name.

        Raises `DeviceError` unless the program declares a tensor of this name, dtype and shape.
        """
        tensor = tensors.find(self.program, name)
        self.memory.poke(tensor.address, tensors.bytes_of(tensor, array))

    def read_tensor(self, name: str) -> NDArray[Any]:
        """Return a copy of the program's tensor of this name, in its declared dtype and shape.

        Raises `DeviceError` if there is no such tensor.
        """
        tensor = tensors.find(self.program, name)
        return tensors.array_of(tensor, self.memory.peek(tensor.address, tensor.size))

    def counters(self, cores: Iterable[Core] | None = None) -> dict[str, dict[str, int]]:
        """Return the counters of `cores` (None: of all cores), by core name and counter name.

        The counters of the core's table come first, then the traffic of its ports. Raises
        `DeviceError` if `cores` has other values.
        """
        chosen = self.order if cores is None else check_cores(cores)
        found = {core.name: core.counters() for core in chosen}
        for port in self.memory.ports:
            values = found.get(port.core.name, {})
            for name, count in port.counts().items():
                values[name] = values.get(name, 0) + count
        return found

    # The clock

    def run(self, max_cycles: int | None = None, until: int | None = None, turn: int = 0) -> Stop:
        """Run until something stops the device, and return the stop.

        The reasons are an exit, a fault, a deadlock, a breakpoint, an interrupt, an event and a
        limit. There are two limits: `max_cycles` more cycles, and the cycle `until`. At a limit all
        acts before that cycle are done. With a `turn`, the cores with numbers below `turn` have
        also acted in cycle `until` (see `position`). After an exit or fault, `run` returns the same
        stop until a reset, load or restore. Raises `DeviceError` for a wrong limit.
        """
        return self._run(*self._end(max_cycles, until, turn), None)

    def step_core(
        self, name: str, max_cycles: int | None = None, until: int | None = None, turn: int = 0
    ) -> Stop:
        """Run until the core `name` has finished one more instruction, or until another stop.

        If the core has finished the instruction, the stop's reason is "step". Until then all other
        cores act, too, each in its cycles. The limits are those of `run`. Raises `KeyError` for an
        unknown name.
        """
        return self._run(*self._end(max_cycles, until, turn), self.cores[name])

    def _end(self, max_cycles: int | None, until: int | None, turn: int) -> tuple[int, int]:
        """Return (cycle, turn) in which a run with these limits ends; `NEVER` without limits.

        Raises `DeviceError` for a number of cycles that is not whole or is negative.
        """
        for what, value in (("max_cycles", max_cycles), ("until", until)):
            if value is not None and (not isinstance(value, Integral) or value < 0):
                raise DeviceError(f"{what} is a whole number from 0, not {value!a:.60}")
        limit = NEVER if max_cycles is None else self.cycle + int(max_cycles)
        return (limit, 0) if until is None or until > limit else (int(until), int(turn))

    def interrupt(self, stop: Stop | None = None) -> None:
        """Request that the run stops and returns `stop`; None means the stop of an interrupt.

        A call from another thread stops the run soon. A call from a listener stops it right after
        the present act.
        """
        self._request = stop or Stop("interrupt", self.cycle, "interrupted")

    def _run(self, limit: int, turn: int, focus: Core | None) -> Stop:
        if self.stopped is not None:
            return self.stopped
        self._request, self.focus = None, focus
        pause, on_act = self.pause, self.on_act
        if focus is not None:
            focus.sync()
        cores, banks = self.core_set.present, self.memory.banks
        target = 0 if focus is None else focus.retired + 1
        while self._request is None:
            # `chosen` has the least (time, number). Before cycle `horizon` no other core acts.
            chosen, time, horizon = None, NEVER, NEVER
            for core in cores:
                at = core.time
                if at < time:
                    chosen, time, horizon = core, at, time
                elif at < horizon - 1:
                    horizon = at + 1
            if time > banks.time:
                if banks.time >= limit:
                    return self._limit_stop(limit, turn)
                self.cycle, self.turn = banks.time, NEVER
                try:
                    banks.arbitrate()
                except Fault as fault:
                    return self._fault_stop(fault, None)
                if on_act is not None:
                    on_act(None)
                if focus is not None and focus.retired >= target:
                    # the arbiter has granted the access for which this core waited
                    return self._step_stop(focus)
                continue
            if chosen is None:
                return self._idle_stop()
            if time >= limit and (time > limit or chosen.number >= turn):
                return self._limit_stop(limit, turn)
            self.cycle, self.turn = time, chosen.number
            if pause is not None and pause():
                self.turn -= 1
                return Stop("interrupt", time, "interrupted")
            last = limit + (chosen.number < turn)
            horizon = min(horizon, banks.time + 1, last, time + chosen.burst)
            if chosen is focus or chosen.listeners:
                horizon = time + 1
            try:
                stop = chosen.advance(horizon)
            except Fault as fault:
                return self._fault_stop(fault, chosen)
            if stop is not None and stop.before:
                self.cycle, self.turn = stop.cycle, chosen.number - 1
                return stop
            if on_act is not None:
                on_act(chosen)
            if stop is not None:
                self._sync_cores()  # the time of the stop may be the cycle after this one
                return self._finish(stop)
            if focus is not None and focus.retired >= target:
                return self._step_stop(focus)
        self._close_cycle()
        return self._request

    def _step_stop(self, core: Core) -> Stop:
        """Return the stop after a finished step of `core`.

        If a listener has requested another stop, return that one.
        """
        stop = Stop("step", self.cycle, core=core.name, address=core.next_address)
        self._close_cycle()
        return self._request or stop

    def _close_cycle(self) -> None:
        """Advance to the next cycle if the arbiter, which acts last, has acted in this one."""
        if self.turn == NEVER:
            self.cycle, self.turn = self.cycle + 1, -1

    @property
    def acting(self) -> Core | None:
        """The core that acts now or acted last; None if the on-chip memory's arbiter acted last."""
        return self.core_set.by_number.get(self.turn)

    def _finish(self, stop: Stop) -> Stop:
        if stop.reason == "breakpoint":
            return stop  # ebreak takes several cycles, and other cores have yet to act in them
        self.cycle = stop.cycle
        if stop.reason in ("exit", "fault"):
            self.stopped = stop
            return self._end_traces(stop)
        return stop

    def _end_traces(self, stop: Stop) -> Stop:
        """End the record of each trace block, and return `stop`.

        If the device cannot write a record to memory, return the stop of that fault instead.
        """
        for core in self.present:
            try:
                core.trace.stop()
            except Fault as fault:
                return self._fault_stop(fault, core)
        return stop

    def _limit_stop(self, limit: int, turn: int) -> Stop:
        self.cycle, self.turn = limit, turn - 1
        at = [f"{core.name}{self._where(core)}" for core in self.present if core.running]
        over = f"cycle limit: {limit} cycle{' is' if limit == 1 else 's are'} over"
        return Stop("cycle limit", limit, f"{over}; running: {', '.join(at) or 'no core'}")

    def _idle_stop(self) -> Stop:
        """Return the stop for a device in which no core will act again: an exit or a deadlock."""
        waiting = [core for core in self.present if core.running]
        if not waiting:
            # The last core may have acted after `cycle` before it ended.
            cycle = max(self.cycle, self.last_change)
            self._sync_cores()
            return self._finish(Stop("exit", cycle, "no core runs", exit_code=0))
        # A core may have acted after `cycle` before it began to wait, or before others ended.
        since = (core.waiting.since for core in waiting if core.waiting is not None)
        self.cycle = max((self.cycle, self.last_change, *since))
        return Stop("deadlock", self.cycle, f"deadlock: {'; '.join(map(self._complaint, waiting))}")

    def _complaint(self, core: Core) -> str:
        text = f"{core.name}{self._where(core)} waits"
        if core.waiting is None:
            return text
        text += f" for {core.waiting.on} since cycle {core.waiting.since}"
        targets = [x for x in self.order if core.waiting.cores >> x.number & 1]
        states = [f"{x.name} {'waits too' if x.running else 'is idle'}" for x in targets]
        if core in targets:
            states[targets.index(core)] = f"{core.name} is the one that waits"
        return text + (f" ({', '.join(states)})" if states else "")

    def _where(self, core: Core) -> str:
        """Return a text that locates the next instruction of a core: ` at 0x00010010 (layer.s:12)`.

        The text is empty if the core has no next instruction.
        """
        address = core.next_address
        if address is None:
            return ""
        place = self.place(address, core)
        source = f" ({place[0]}:{place[1]})" if place else ""
        return f" at {address:#010x}{source}"

    def place(self, address: int, core: Core | None = None) -> Place | None:
        """Return the file, line and column of the instruction at `address`; None if unknown.

        With `core`, `address` may also be in a copy of code that this core executes (`emu.copies`).
        """
        if self.program is None:
            return None
        if core is not None:
            address = original(self.program, core, address)
        line = self.program.line_at(address)
        return (line.file, line.line, line.column) if line else None

    def _fault_stop(self, fault: Fault, core: Core | None) -> Stop:
        core = self.cores.get(fault.core or "", core)
        if core is not None:
            fault.core = fault.core or core.name
            if fault.address is None:
                fault.address = core.next_address
        if fault.cycle is None:
            fault.cycle = self.cycle if core is None else min(core.time, NEVER - 1)
        if fault.place is None and fault.address is not None:
            fault.place = self.place(fault.address, core)
        self.cycle = fault.cycle
        self._sync_cores()
        return self._finish(
            Stop("fault", fault.cycle, str(fault), None, fault, fault.core or "", fault.address)
        )

    # State

    def sync(self) -> None:
        """Write the present state of device, cores and memory into the declared state."""
        self.state.cycle = self.cycle
        self.state.stopped = None if self.stopped is None else self.stopped.plain()
        self.core_set.all()
        self._sync_cores()  # a core may have skipped beats
        self.memory.sync()

    def _sync_cores(self) -> None:
        for core in self.present:
            core.sync()

    def _reload(self) -> None:
        self.cycle, self.last_change = self.state.cycle, 0
        stopped = self.state.stopped
        self.stopped = None if stopped is None else Stop.from_plain(stopped)
        self._request = None
        self.turn = -1
        self.memory.reload()
        for core in self.order:
            core.reload()

    def _states(self) -> dict[str, State]:
        cores = {core.name: core.state for core in self.order}
        return {"device": self.state, "memory": self.memory.state, **cores}

    def snapshot(self) -> Snapshot:
        """Return a snapshot of the whole state.

        This copies only memory pages that were written since the last snapshot.
        """
        self.sync()
        cores = {core.name: core.state.snapshot() for core in self.order}
        turn = self.position[1]
        return Snapshot(self.state.snapshot(), self.memory.state.snapshot(), cores, turn)

    def restore(self, snapshot: Snapshot) -> None:
        """Set the state to that of a snapshot.

        The snapshot is of this device, or of another device with the same configuration. Raises
        `StateError` if the snapshot has other cores, or fields of another type or shape.
        """
        parts = snapshot_parts(snapshot, self.cores)
        for name, state in self._states().items():
            state.restore(parts[name])
        self._reload()
        self.turn = snapshot.turn - 1

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how `pickle` and `copy` copy a device: its state, without functions of callers."""
        machine = self.config, self.engine, self.jitter
        return copy_device, (type(self), *machine, self.program, self.snapshot())

    def diff(self, earlier: Snapshot) -> list[tuple[str, Change]]:
        """Return the changes since `earlier` as pairs (name, change).

        The name is the name of a core, `device` or `memory`. Raises `StateError` if `earlier` is no
        snapshot of such a device.
        """
        before = snapshot_parts(earlier, self.cores)
        self.sync()
        return [
            (name, change)
            for name, state in self._states().items()
            for change in state.diff(before[name])
        ]

    def hash(self) -> str:
        """Return a hash of the whole state, in hexadecimal."""
        self.sync()
        whole = blake2b(16)
        for name, state in self._states().items():
            whole.update(f"{name} {state.hash()} ".encode())
        return whole.hexdigest()

    def save(self, path: str | Path) -> None:
        """Write the state and the configuration to the `.npz` file `path`. Raises `OSError`."""
        self.sync()
        saved.write(path, self._machine(), self._states())

    def _machine(self) -> dict[str, Any]:
        """Return the configuration that a saved state must have so that this device can load it."""
        return {**self.config, **({} if self.jitter is None else {"jitter": self.jitter})}

    def load_state(self, path: str | Path) -> None:
        """Set the state to the contents of the file `path`, which `save` wrote; the program stays.

        Raises `StateError`, and changes nothing, if there is no such file or if the file has
        another configuration or format.
        """
        found = saved.read(path, self._machine(), self._states())
        device, memory = found.pop("device"), found.pop("memory")
        before = self.snapshot()
        try:
            self.restore(Snapshot(device, memory, found))
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            self.restore(before)
            raise StateError(f"{path}: is no saved device: {error}") from None

    # Listeners

    def listen(self, listener: Listener, names: Iterable[str] | None = None) -> None:
        """Call `listener` for each announcement of the cores with these names, or of all cores."""
        cores = self.cores
        for name in cores if names is None else names:
            cores[name].sync()  # from now on the engine must announce each act
            cores[name].listeners.append(listener)

    def unlisten(self, listener: Listener) -> None:
        """Stop calling `listener` for announcements of any core."""
        for core in self.order:
            core.listeners = [other for other in core.listeners if other is not listener]
