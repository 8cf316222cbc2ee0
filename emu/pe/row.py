"""A row of the PE array: the parts that both engines have, and the order of a cycle."""

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
from macaw.isa.pe import CORE, PE_COUNTERS, ROW_COUNTERS


class Macs(Protocol):
    """The macs of all PEs of a row, as an engine simulates them."""

    def cycle(self, now: int) -> None:
        """The PEs' turn in cycle `now`. Raises `Fault`."""

    @property
    def needs_next_cycle(self) -> bool:
        """Whether the PEs must be simulated in the next cycle."""

    def next_end(self) -> int:
        """The cycle in which the first mac ends that needs no simulation until then, or NEVER."""


class Row(Core, Dispatchable):
    """A row of the array. Its engines are `reference.ReferenceRow` and `fast.FastRow`.

    Times inside are cycles of the row's clock, device cycles divided by `pe.divider`. An engine
    makes `special`, `controls` and `macs`, and passes them to `assemble`.
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
        """Connect the units, once the engine has made `special`, `controls` and `macs`."""
        self.trace_reports = units.trace
        self.return_bus = ReturnBus(self.context, units.trace)
        self.bus = Distribution(self.controls, units)
        self.stall_report = StallReport(self.bus)
        # False while the bus can do nothing until something else changes; only saves time.
        self.bus_may_act = True

    # The contract

    @property
    def next_address(self) -> int | None:
        """The oldest run's first instruction that is not done, or the packet on the bus."""
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
        """The exe that began last; the packet on the bus may be an earlier or a later one."""
        latest = self.state.latest
        return "", None if latest < 0 else self.shape.address(latest)

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        context = self.context
        context.provenance = RowProvenance(
            self, context.clusters, context.arrays, self.memory, number
        )
        self.origins = context.provenance
        return context.provenance

    def stalls(self) -> Sequence[Stall]:
        """What the bus and the runs of the clusters do or wait for."""
        stalls = tuple(self.stall_report.stalls()) if self.running else ()
        return stalls or super().stalls()

    @property
    def boxes(self) -> Sequence[Box]:
        """The boxes of seed 000, Fig. 5a and 5b; see `Inspectable.boxes`."""
        return block_diagram(self.context)

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """The entries of a queue, decoded as in the boxes; see `Inspectable.entries`."""
        return entries_of(self.context, queue.name, *units)

    def unit(self, units: tuple[int, ...]) -> Stall:
        """What a cluster or a PE does or waits for."""
        return self.stall_report.unit(*units)

    def dispatch(self, offset: int, time: int) -> None:
        """Begin the packet list at `offset` of the feeding half."""
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
        """Simulate cycles before `limit`, up to the first that asks for memory or ends the list."""
        self.proceed()
        with np.errstate(over="ignore", invalid="ignore"):
            while self.time < limit:
                self.cycle(self.time // self.divider)
                if self.memory.waits_for_grant or not self.running:
                    return None
        return None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """A beat was on the bus, or on the return bus, in the cycle of `time`.

        The unit reads ahead by mem.onchip_latency, so the bus does not wait for it (`ready`).
        """
        cycle = time // self.divider
        if port is self.memory.read_port:
            self.state.beat["data"] = data
            self.state.beat["cycle"] = cycle
        else:
            self.state.returned = cycle
        self.time = min(self.time, self.aligned(time + 1))

    def counters(self) -> dict[str, int]:
        """The table's counters: of PEs the sum over the row, of high-water marks the greatest."""
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
        """See `Core.reload`: reload the trace reports too, and let the bus act again."""
        super().reload()
        self.trace_reports.reload()
        self.bus_may_act = True

    @property
    def start_count(self) -> int:
        """Exes that have begun."""
        return int(self.state.begun)

    def units(self) -> Units:
        """The MACs of the row; each takes a weight and an activation."""
        width = 2 * np.dtype(self.shape.value_type).itemsize
        return Units(self.shape.clusters * self.shape.pes, width)

    def trace_changed(self) -> None:
        """Clear what the state holds for a trace, if it records nothing now."""
        if not self.tracing:
            self.state.macs_before[...] = 0

    # A cycle

    def cycle(self, now: int) -> None:
        """Simulate cycle `now`, in which every unit uses the state at its start. Raises `Fault`."""
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
        self.return_bus.cycle()
        if self.bus_may_act:
            self.bus_may_act = False
            self.bus.cycle(now)
        if self.controls.parse():
            self.bus_may_act = True
        self.schedule(now)

    def schedule(self, now: int) -> None:
        """Set the time of the next cycle in which something can change."""
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
        """End the list; the cycle before `now` is the last one that counts."""
        self.state.reached = now
        self.count_cycles()
        self.running = False
        self.device.changed(self, self.time)
        self.time = NEVER

    def count_cycles(self) -> None:
        """Count the cycles up to the last simulated one."""
        state = self.state
        if not self.running or state.reached <= state.counted_to:
            return
        state.cycles += state.reached - state.counted_to
        state.counted_to = state.reached
        for cluster in self.context.clusters:
            if state.doing_since[cluster.number] < state.reached:
                cluster.count_to(state.reached)
