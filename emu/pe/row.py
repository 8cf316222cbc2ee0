"""A row of the PE array as a core: the code that both engines share, and the phases of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from macaw.emu.block_diagram import Box
from macaw.emu.core import Core
from macaw.emu.endpoints import Endpoint
from macaw.emu.faults import Stop
from macaw.emu.inspection import Stall
from macaw.emu.origins import Origins
from macaw.emu.pe import timing
from macaw.emu.pe.block_diagram import block_diagram, entries_of
from macaw.emu.pe.cluster_controls import ClusterControls
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.distribution import Distribution
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.provenance import RowProvenance
from macaw.emu.pe.return_bus import ReturnBus
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.special_units import SpecialUnits
from macaw.emu.pe.stalls import StallReport
from macaw.emu.pe.state import DONE, FREE, fields, shape_of
from macaw.emu.pe.unit_memory import UnitMemory
from macaw.emu.system import Dispatchable, System
from macaw.emu.traced import Units
from macaw.emu.waits import NEVER
from macaw.isa.model import Queue
from macaw.isa.pe import CORE, OPERAND_DTYPES, PE_COUNTERS, ROW_COUNTERS


class Macs(Protocol):
    """The macs of all PEs of a row. Each engine simulates them in a class of its own."""

    def cycle(self, now: int) -> None:
        """Simulate cycle `now` of the PEs. Raises `Fault`."""

    @property
    def needs_next_cycle(self) -> bool:
        """Whether the PEs must be simulated in the next cycle."""

    def next_end(self) -> int:
        """Return the earliest end of the macs whose cycles the engine skips.

        The result is a cycle, or NEVER if there is no such mac.
        """


class Row(Core, Dispatchable):
    """A row of the array. Its engines are `reference.ReferenceRow` and `fast.FastRow`.

    `now` and the times in the state of the row's units are cycles of the row's clock: device cycles
    divided by `pe.divider`. `time` is a device cycle. An engine creates `special`, `controls` and
    `macs`, then calls `assemble`.
    """

    numbers_markers = False
    shows_begun = True

    special: SpecialUnits
    controls: ClusterControls
    macs: Macs

    def __init__(self, device: System, row: int) -> None:
        config = device.config
        self.shape = shape_of(config, row)
        super().__init__(device, CORE, f"pe[{row}]", CORE.number + row, fields(self.shape))
        self.divider = self.shape.divider
        self.dispatch_latency = int(config["dist.dispatch_latency"])
        half_bytes = int(config["mem.unit_half_bytes"])
        self.memory = UnitMemory(device.memory, self, row, half_bytes)
        self.context = RowContext(self, self.shape, self.memory)
        self.queues = OutputQueues(self.state, self.shape)

    def assemble(self, units: RowUnits) -> None:
        """Create the bus, the return bus and the stall report, which need the shared units."""
        self.trace_reports = units.trace
        self.return_bus = ReturnBus(self.context, units.trace)
        self.bus = Distribution(self.controls, units)
        self.stall_report = StallReport(self.bus)
        # False while only a change elsewhere can give the bus something to do; saves time only.
        self.bus_may_act = True

    # What the device calls

    @property
    def next_address(self) -> int | None:
        """The address of the instruction or packet that the row executes next; None if it is idle.

        It is the first instruction that is not done. The search goes through the clusters, and in
        each cluster through the runs from the oldest on. If there is no such instruction, it is the
        packet on the bus, or the next packet of the list.
        """
        for cluster in self.context.clusters:
            for run in cluster.runs:
                for op in run["ops"]:
                    if op["state"] != DONE:
                        return cluster.address(run, op)
        if not self.running:
            return None
        packet, next_packet = self.state.packet, self.state.next_packet
        if packet is None and next_packet < 0:
            return None
        return self.shape.address(next_packet if packet is None else packet["address"])

    def current(self) -> tuple[str, int | None]:
        """Return ("", address of the exe that started last), or ("", None) before the first exe.

        The packet on the bus may be earlier or later than this exe.
        """
        latest = self.state.latest
        return "", None if latest < 0 else self.shape.address(latest)

    def remember(self, number: Callable[[], int]) -> Origins:
        """Start to record where values come from. Return the records.

        `number` returns how many events the device has announced to listeners so far.
        """
        context = self.context
        context.provenance = RowProvenance(
            self, context.clusters, context.arrays, self.memory, number
        )
        self.origins = context.provenance
        return context.provenance

    def stalls(self) -> Sequence[Stall]:
        """Return the present work or wait of the bus and of the runs of the clusters."""
        stalls = tuple(self.stall_report.stalls()) if self.running else ()
        return stalls or super().stalls()

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes of seed 000, Fig. 5a and 5b, each with a function for its present contents."""
        return block_diagram(self.context)

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """Return the entries of a queue of a PE, decoded into their fields, the head first.

        `units` are the cluster and the PE. The result is None if the queue has no head.
        """
        return entries_of(self.context, queue.name, *units)

    def unit(self, units: tuple[int, ...]) -> Stall:
        """Return the present work or wait of a cluster, or of a PE of the cluster.

        `units` is (cluster,) or (cluster, PE).
        """
        return self.stall_report.unit(*units)

    def dispatch(self, offset: int, time: int) -> None:
        """Start the packet list at `offset` of the feeding half.

        `time` is the device cycle of the dispatch.
        """
        memory_latency = self.device.memory.onchip_latency
        first = timing.first_cycle(time, self.dispatch_latency, memory_latency, self.divider)
        state = self.state
        state.next_packet = offset
        state.reached = state.counted_to = state.bus_free = first
        state.doing_since[...] = first
        self.running = True
        self.time = first * self.divider
        self.bus_may_act = True

    def advance(self, limit: int) -> Stop | None:
        """Simulate cycles before device cycle `limit`.

        Return after the first cycle that requests memory or ends the list.
        """
        self.proceed()
        with np.errstate(over="ignore", invalid="ignore"):
            while self.time < limit:
                self.cycle(self.time // self.divider)
                if self.memory.waits_for_grant or not self.running:
                    return None
        return None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take a beat that memory granted at `time`, a beat of the bus or of the return bus.

        `port` is the port at which the beat was requested, `data` has the bytes that were read. The
        distribution unit requests bytes in advance. So the bus uses the data in the cycle of the
        grant and ignores `ready`. Both times are device cycles.
        """
        cycle = time // self.divider
        if port is self.memory.read_port:
            self.state.beat["data"] = data
            self.state.beat["cycle"] = cycle
        else:
            self.state.returned = cycle
        self.time = min(self.time, self.aligned(time + 1))

    def counters(self) -> dict[str, int]:
        """Return the counters of `macaw.isa.pe` by name.

        A counter of PEs is the sum over all PEs of the row; a high-water mark is their maximum.
        """
        self.count_cycles()
        counters = {row.name: int(getattr(self.state, row.name)) for row in ROW_COUNTERS}
        for row in PE_COUNTERS:
            values = getattr(self.state, row.name)
            counters[row.name] = int(values.max() if row.peak else values.sum())
        return counters

    def sync(self) -> None:
        """Bring the declared state up to date."""
        super().sync()
        self.count_cycles()
        self.context.arrays.clear_free_places()

    def reload(self) -> None:
        """Continue from the declared state, which the caller has replaced by another one."""
        super().reload()
        self.trace_reports.reload()
        self.bus_may_act = True

    @property
    def start_count(self) -> int:
        """The number of exes that have begun."""
        return int(self.state.begun)

    def units(self) -> Units:
        """Return the sizes of compute units and accesses, for the trace.

        A compute unit is the MAC of a PE. In one use it takes a weight and an activation.
        """
        width = 2 * np.dtype(OPERAND_DTYPES[self.shape.element]).itemsize
        return Units(self.shape.clusters * self.shape.pes, width)

    def trace_changed(self) -> None:
        """Clear the state's data for the trace, if the trace block does not record now."""
        if not self.tracing:
            self.state.macs_before[...] = 0

    # A cycle

    def cycle(self, now: int) -> None:
        """Simulate cycle `now`. Raises `Fault`.

        Every unit uses the state at the start of the cycle.
        """
        state = self.state
        state.reached = now + 1
        if state.beat is not None:
            self.bus.take_in()
            self.bus_may_act = True
        if state.returned != FREE:
            self.return_bus.take_in()
        if self.controls.act(now):
            self.bus_may_act = True
        if self.trace_reports.ended_exes:
            self.trace_reports.end_exes(now, self.controls.oldest_mac(now))
        self.macs.cycle(now)
        self.special.cycle(now)
        if self.return_bus.choose():
            self.begin_return_beat()
        if self.bus_may_act:
            self.bus_may_act = False
            self.bus.cycle(now)
        if self.controls.parse():
            self.bus_may_act = True
        self.schedule(now)

    def begin_return_beat(self) -> None:
        """Begin the beat of the return bus that was chosen in this cycle."""
        self.return_bus.request()

    def schedule(self, now: int) -> None:
        """Set `time` to the next cycle in which something can change.

        `now` is the current cycle.
        """
        state = self.state
        beat = state.beat
        if (
            self.macs.needs_next_cycle
            or (beat is not None and beat["data"] is not None)
            or self.special.at_work
            or any(state.parsers)
            or self.bus_may_act
        ):
            self.time = (now + 1) * self.divider
            return
        due = min(*state.due, self.macs.next_end(), self.controls.next_event(now))
        if due < NEVER:
            self.time = max(due, now + 1) * self.divider
        elif beat is not None or state.returning != FREE:
            self.time = NEVER  # until `granted`
        elif self.bus.is_done and not any(state.runs):
            self._end(now)
        else:
            self.wait(self.bus.stalled_on())

    def _end(self, now: int) -> None:
        """End the packet list, whose last cycle is the one before `now`."""
        self.state.reached = now
        self.count_cycles()
        self.running = False
        self.device.changed(self, self.time)
        self.time = NEVER

    def count_cycles(self) -> None:
        """Count all simulated cycles that are not counted yet."""
        state = self.state
        if not self.running or state.reached <= state.counted_to:
            return
        state.cycles += state.reached - state.counted_to
        state.counted_to = state.reached
        for cluster in self.context.clusters:
            if state.doing_since[cluster.number] < state.reached:
                cluster.count_to(state.reached)
