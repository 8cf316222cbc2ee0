"""A row of the PE array: its distribution unit, its clusters, and the order of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.block_diagram import Box
from macaw.emu.core import NEVER, Core, Stall, Units
from macaw.emu.faults import Fault, Stop
from macaw.emu.origins import Origins
from macaw.emu.pe import timing
from macaw.emu.pe.arithmetic import Adder
from macaw.emu.pe.block_diagram import boxes_of, entries_of
from macaw.emu.pe.control_unit import Control
from macaw.emu.pe.data_loading import Loading
from macaw.emu.pe.distribution import Distribution
from macaw.emu.pe.output_queues import Results
from macaw.emu.pe.provenance import RowOrigins
from macaw.emu.pe.reference.datapath import Datapath
from macaw.emu.pe.row_trace import Tracing
from macaw.emu.pe.special_units import Special
from macaw.emu.pe.stalls import stalls, unit
from macaw.emu.pe.state import DONE, FREE, Packet, Segment, fields, shape_of
from macaw.emu.system import Dispatchable
from macaw.isa.memory_map import UNIT_SHIFT, UNITS
from macaw.isa.model import Queue
from macaw.isa.pe import CORE, PE_COUNTERS, ROW_COUNTERS

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.endpoints import Endpoint


class Row(Core, Dispatchable):
    """Reference engine of a row: every cycle in which something can change, one by one.

    Between them nothing changes but time. Times inside are cycles of the row's
    clock, device cycles divided by `pe.divider`.
    """

    confined = True
    numbers_markers = False

    def __init__(self, device: Device, row: int) -> None:
        config = device.config
        self.shape = shape_of(config, row)
        super().__init__(device, CORE, f"pe[{row}]", CORE.number + row, fields(self.shape))
        self.divider = int(config["pe.divider"])
        self.half_bytes = int(config["mem.unit_half_bytes"])
        self.dispatch_latency = int(config["dist.dispatch_latency"])
        adder = Adder(self.shape.sum_type, self.shape.overflow)
        self.datapath = Datapath(self.state, self.shape, adder)
        self.results = Results(self)
        self.special = Special(self, adder)
        self.loading = Loading(self, adder)
        self.controls = [Control(self, cluster) for cluster in range(self.shape.clusters)]
        self.bus = Distribution(self)
        self._read_port = device.memory.port(self)
        self._return_port = device.memory.port(self)
        self.ports = self._read_port, self._return_port
        self.tracer = Tracing(self)
        self.remembered: RowOrigins | None = None  # only while somebody asks where values come from
        self.deciding = self.shape.clusters  # the cluster whose control unit acts; or all have
        # Only saves work: false when the bus is known to be stuck until something else changes.
        self._try_bus = True

    # The contract

    shows_begun = True

    @property
    def next_address(self) -> int | None:
        """The oldest run's first instruction that is not done, or the packet on the bus."""
        for control in self.controls:
            for run in control.runs:
                for op in run["ops"]:
                    if op["state"] != DONE:
                        return control.address(run, op)
        if not self.running:
            return None
        packet, coming = self.state.packet, self.state.next_packet
        if packet is None and coming < 0:
            return None
        return self.address(coming if packet is None else packet["address"])

    def current(self) -> tuple[str, int | None]:
        """The exe that began last: the packet on the bus may be the one before it or behind it."""
        latest = self.state.latest
        return "", None if latest < 0 else self.address(latest)

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = self.remembered = RowOrigins(self, number)
        self.datapath.told = self.remembered.multiplied
        return self.origins

    def stalls(self) -> Sequence[Stall]:
        """The bus and the runs of the clusters, as far as there are some."""
        found = tuple(stalls(self)) if self.running else ()
        return found or super().stalls()

    @property
    def boxes(self) -> Sequence[Box]:
        """See `Core.boxes`: those of seed 000, Fig. 5a and 5b."""
        return boxes_of(self)

    def entries(self, queue: Queue, units: tuple[int, ...]) -> Sequence[Any] | None:
        """See `Core.entries`: decoded, as the boxes have them."""
        return entries_of(self, queue.name, *units)

    def unit(self, units: tuple[int, ...]) -> Stall:
        """What a cluster or a PE is at."""
        return unit(self, *units)

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
        self._try_bus = True

    def advance(self, limit: int) -> Stop | None:
        """Simulate cycles before `limit`, up to the first that asks for memory or ends the list."""
        self.proceed()
        with np.errstate(over="ignore", invalid="ignore"):
            while self.time < limit:
                self._cycle(self.time // self.divider)
                if self._read_port.busy or self._return_port.busy or not self.running:
                    return None
        return None

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """A beat was on the bus, or on the return bus, in the cycle of `time`.

        The unit reads ahead by mem.onchip_latency, so the bus does not wait for it (`ready`).
        """
        cycle = time // self.divider
        if port is self._read_port:
            self.state.beat["data"] = data
            self.state.beat["cycle"] = cycle
        else:
            self.state.returned = cycle
        self.time = min(self.time, self.aligned(time + 1))

    def counters(self) -> dict[str, int]:
        """The table's counters: of PEs the sum over the row, of high-water marks the greatest."""
        self._count()
        found = {row.name: int(getattr(self.state, row.name)) for row in ROW_COUNTERS}
        for row in PE_COUNTERS:
            values = getattr(self.state, row.name)
            found[row.name] = int(values.max() if row.peak else values.sum())
        return found

    def sync(self) -> None:
        """Bring the declared state up to date."""
        super().sync()
        self._count()
        self.datapath.clear_places()

    def reload(self) -> None:
        """Go on from the declared state."""
        super().reload()
        self.tracer.reload()
        self._try_bus = True

    @property
    def begun(self) -> int:
        """Exes that have begun."""
        return int(self.state.begun)

    def units(self) -> Units:
        """The MACs of the row; each takes a weight and an activation."""
        width = 2 * np.dtype(self.shape.value_type).itemsize
        return Units(self.shape.clusters * self.shape.pes, width)

    def trace_changed(self) -> None:
        """Nothing is kept for a trace that records nothing."""
        if not self.tracing:
            self.state.macs_before[...] = 0

    def oldest_work(self, now: int) -> int:
        """The first cycle of the macs of which the trace has not been told before cycle `now`."""
        return self.tracer.oldest_mac(now)

    # A cycle

    def _cycle(self, now: int) -> None:
        """One cycle of the row, in which everything sees what held at its start."""
        state = self.state
        state.reached = now + 1
        answered = state.beat is not None or state.returned != FREE
        if answered:
            self.bus.take_in()
            self.results.take_in()
        self._control(now)
        if self.tracer.ended:
            self.tracer.end(now)
        self._multiply(now)
        self.special.cycle(now)
        self.results.return_cycle()
        if self._try_bus or answered:
            self._try_bus = False
            self.bus.cycle(now)
        self._parse()
        self._schedule(now)

    def _control(self, now: int) -> None:
        for control, due in zip(self.controls, self.state.due, strict=True):
            if due <= now:
                self.state.due[control.cluster] = NEVER
                self.deciding = control.cluster
                control.step(now)
                self._try_bus = True
        self.deciding = self.shape.clusters

    def _parse(self) -> None:
        parsers = self.state.parsers
        if not any(parsers):
            return
        left = [cluster for cluster, parser in enumerate(parsers) if parser is not None]
        while left:  # clusters that get the same do it together
            first = parsers[left[0]]
            alike = [cluster for cluster in left if parsers[cluster] == first]
            left = [cluster for cluster in left if cluster not in alike]
            if self.controls[alike[0]].parser.parse(alike):
                self._try_bus = True

    def _multiply(self, now: int) -> None:
        """The PEs' turn in a cycle."""
        if self.state.computing.any():
            self._compute(now)

    def _compute(self, now: int) -> None:
        try:
            ended = self.datapath.cycle()
        except Fault as fault:
            cluster = fault.values.get("cluster", 0)
            fault.address = self.controls[int(cluster)].computing_address()
            raise
        for cluster in ended:
            self.controls[cluster].mac_ended(now)

    def _schedule(self, now: int) -> None:
        """When the row acts again: the next cycle in which something can change."""
        state = self.state
        beat = state.beat
        if (
            self._computes()
            or (beat is not None and beat["data"] is not None)
            or self.special.at_work
            or any(state.parsers)
            or self._try_bus
        ):
            self.time = (now + 1) * self.divider
            return
        due = min(*state.due, self._next_end())
        if due < NEVER:
            self.time = max(due, now + 1) * self.divider
        elif beat is not None or state.returning != FREE:
            self.time = NEVER  # until `granted`
        elif self._over():
            self._end(now)
        else:
            self.wait(self.bus.stalled_on())

    def _computes(self) -> bool:
        """Whether the PEs have to be looked at in the next cycle."""
        return bool(self.state.computing.any())

    def _next_end(self) -> int:
        """The cycle in which the first of the macs ends that need no look until then."""
        return NEVER

    def _over(self) -> bool:
        return self.bus.done and not any(self.state.runs)

    def _end(self, now: int) -> None:
        """The list is done; the cycle before was the last one that counts."""
        self.state.reached = now
        self._count()
        self.running = False
        self.device.changed(self, self.time)
        self.time = NEVER

    def _count(self) -> None:
        """Bring the counters of cycles up to the last simulated cycle."""
        state = self.state
        if not self.running or state.reached <= state.counted_to:
            return
        state.cycles += state.reached - state.counted_to
        state.counted_to = state.reached
        for control in self.controls:
            if state.doing_since[control.cluster] < state.reached:
                control.count_to(state.reached)

    # What the bus asks of the clusters of a packet, and tells them

    def accepts(self, packet: Packet) -> bool:
        """Whether the packet's buffer is free in all its clusters."""
        return all(self.controls[cluster].accepts(packet) for cluster in packet["clusters"])

    def may_still_write(self, order: int, segment: Segment) -> bool:
        """Whether a run of a packet before `order` has yet to store into bytes of a segment."""
        return any(control.may_still_write(order, segment) for control in self.controls)

    def ready(self, packet: Packet, number: int) -> bool:
        """Whether all clusters can take a segment of the packet on the bus."""
        return all(self.controls[cluster].ready(packet, number) for cluster in packet["clusters"])

    def begin_segment(self, packet: Packet) -> None:
        """The first bytes of a segment are on the bus."""
        for cluster in packet["clusters"]:
            self.controls[cluster].begin_segment(packet)

    def segment_first(self, packet: Packet, number: int, cycle: int) -> None:
        """The first beat of a segment was on the bus in `cycle`."""
        for cluster in packet["clusters"]:
            self.controls[cluster].segment_first(packet, number, cycle)

    def segment_last(self, packet: Packet, number: int, cycle: int) -> None:
        """The last beat of a segment was on the bus in `cycle`; its contents are in place."""
        for cluster in packet["clusters"]:
            self.controls[cluster].segment_last(packet, number, cycle)

    def targets(self, packet: Packet, number: int) -> NDArray[np.int32]:
        """Where the ld of each cluster puts a dense segment, (clusters, PEs)."""
        found = []
        for cluster in packet["clusters"]:
            run, op = self.controls[cluster].taker(packet, number)
            found.append(self.state.registers[cluster, run["buffer"], op["place"], 0])
        return np.array(found)

    # Memory, and addresses

    def address(self, offset: int) -> int:
        """The address of an offset in the row's unit, without the half bit."""
        return UNITS + (self.shape.row << UNIT_SHIFT) + offset

    def peek(self, offset: int, length: int) -> bytes:
        """Bytes of the feeding half, without time. Raises `Fault`."""
        memory = self.device.memory
        return memory.peek(memory.feeding_address(self.shape.row) + offset, length)

    def read(self, ranges: Sequence[tuple[int, int]]) -> None:
        """Ask for the bytes of a beat at ranges (offset, bytes) of the feeding half."""
        base = self.device.memory.feeding_address(self.shape.row)
        self._read_port.instruction = self.state.packet["number"]
        self._read_port.beat(self.time, [(base + at, length) for at, length in ranges])

    def write(self, ranges: Sequence[tuple[int, int]], data: bytes) -> None:
        """Ask for a beat of the return bus to be written to the feeding half."""
        base = self.device.memory.feeding_address(self.shape.row)
        if self.tracing:
            self._return_port.instruction = self.tracer.storing(self.state.returning)
        self._return_port.beat(self.time, [(base + at, length) for at, length in ranges], data)
