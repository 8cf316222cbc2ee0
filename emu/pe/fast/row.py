"""The fast engine of a row: it skips many cycles, but gives the same state as the reference engine.

The engine plans macs when they begin (`mac_plan`), and skips cycles in which only planned macs
execute. It writes the effects of a mac to the state when the mac ends, or earlier if the state is
read: after `sync` the state is exactly that of the reference. Some macs may fault or saturate, or
use a value that is not finite. The engine simulates these cycle by cycle in the reference's data
path, together with all other macs of the row. So faults come in the same cycle with the same state.

Clusters that execute the same steps form a lockstep group (`lockstep_group`). The engine simulates
their control units and PEs again only when the bus needs them or when their runs end.
"""

from __future__ import annotations

from macaw.emu.endpoints import Endpoint
from macaw.emu.pe.fast.controls import LockstepControls
from macaw.emu.pe.fast.feed_burst import FeedBurst
from macaw.emu.pe.fast.feed_stream import FeedStream
from macaw.emu.pe.fast.mac_plans import MacPlans
from macaw.emu.pe.fast.macs import PlannedMacs
from macaw.emu.pe.fast.return_burst import ReturnBurst
from macaw.emu.pe.fast.special_units import FastSpecialUnits
from macaw.emu.pe.row import Row
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.state import FREE, Packet
from macaw.emu.system import System
from macaw.emu.waits import NEVER


class FastRow(Row):
    """The fast engine of a row."""

    special: FastSpecialUnits
    controls: LockstepControls
    macs: PlannedMacs

    def __init__(self, device: System, row: int) -> None:
        super().__init__(device, row)
        self.special = FastSpecialUnits(self.context, self.queues)
        units = RowUnits(self.context, self.queues, self.special)
        self.plans = MacPlans(
            self.context,
            peers=lambda: [core.plans for core in device.present if isinstance(core, FastRow)],
        )
        self.controls = LockstepControls(units)
        self.macs = self.controls.macs = PlannedMacs(self.context, self.controls, self.plans)
        self.controls.next_packet = self._next_packet
        # Beats that the engine moves at once.
        self._burst: FeedBurst | FeedStream | ReturnBurst | None = None
        self._holds = False  # whether a beat of the return bus is chosen and not requested yet
        self.assemble(units)
        self.controls.coming_packet = self.bus.coming_packet

    # What the device calls

    @property
    def next_address(self) -> int | None:
        """The address of the instruction or packet that the row executes next; None if it is idle.

        Reading this property splits a lockstep group.
        """
        if self.controls.group is not None:
            self._catch_up()
        return super().next_address

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take a beat that memory has granted, and start a burst if one can follow.

        The beat was requested at `port`. `data` has the bytes that were read, `time` is the device
        cycle of the grant. `ready` is ignored, because the bus requests bytes in advance and uses
        them in the cycle of the grant.
        """
        scheduled = self.time
        super().granted(port, data, time, ready)
        if scheduled <= self.time or self.listeners:
            return
        if port is not self.memory.read_port:
            return
        burst = FeedBurst.after(self.context, time // self.divider)
        if burst is not None:
            self._begin_burst(burst)
            self.time = min(scheduled, burst.end * self.divider)

    def _begin_burst(self, burst: FeedBurst | FeedStream | ReturnBurst) -> None:
        self._burst = burst
        self.device.memory.banks.exclusive[burst.half] = self._on_contention

    def _next_packet(self) -> Packet | None:
        """Return the packet on the bus if a group may take its next segments before they are sent.

        Otherwise return None. The row needs exclusive access to its half, because the beats are
        then not requested one by one. No listener or record of origins may need single beats.
        """
        state = self.state
        if self.listeners or self.context.provenance is not None:
            return None
        idle = state.beat is None and state.returning == FREE and self._burst is None
        if not idle or not self._has_half_alone or not FeedStream.fits(self.context):
            return None
        packet: Packet | None = state.packet
        return packet

    @property
    def _has_half_alone(self) -> bool:
        """Whether no core has a request for the feeding half, or exclusive access to it."""
        banks, half = self.device.memory.banks, FeedStream.half_of(self.context)
        return not banks.has_request_in(half) and half not in banks.exclusive

    def counters(self) -> dict[str, int]:
        """Return the counters of `macaw.isa.pe` by name, up to the present cycle."""
        self._catch_up()
        return super().counters()

    def sync(self) -> None:
        """Bring the declared state up to date."""
        self._catch_up()
        super().sync()

    def reload(self) -> None:
        """Continue from the declared state, without plans, lockstep group or burst."""
        super().reload()
        self._burst = self.controls.group = None
        self.macs.clear()
        self.special.reload()
        self.controls.acted = self.state.reached - 1
        self.special.simulated_to = self.state.reached

    # A cycle

    def cycle(self, now: int) -> None:
        """Simulate cycle `now`. Raises `Fault`."""
        self._end_burst(now)
        if self.special.waits:
            self.special.catch_up(now, only_ended=True)
        self.controls.acted = self.macs.computed = self.special.simulated_to = now
        self.controls.acting = 0
        try:
            super().cycle(now)
        finally:
            if self._holds:
                self._begin_return_burst(now)

    def begin_return_beat(self) -> None:
        """Begin the beat of the return bus that was chosen in this cycle.

        If a listener needs single beats, the beat is requested at once. Otherwise it is held back,
        because it may begin a burst.
        """
        if self.listeners:
            super().begin_return_beat()
        else:
            self._holds = True

    def _begin_return_burst(self, now: int) -> None:
        """Begin a burst in cycle `now` with the chosen beat, if a burst is possible.

        Otherwise request the beat. Until now the beat was held back.
        """
        self._holds = False
        limit, burst = min(self.time, NEVER) // self.divider, None
        if self.state.beat is None:
            burst = ReturnBurst.of(self.context, now, limit)
        if burst is None:
            self._request_return_beat(now)
            return
        self._begin_burst(burst)
        self.device.memory.halves[burst.half].sleeper = self
        self.time = min(self.time, burst.end * self.divider)

    def _request_return_beat(self, now: int) -> None:
        """Request the chosen beat in cycle `now`. The row has already simulated this cycle."""
        scheduled, self.time = self.time, now * self.divider
        self.return_bus.request()
        self.time = scheduled

    def schedule(self, now: int) -> None:
        """Set `time` to the next cycle in which something can change.

        `now` is the current cycle.
        """
        state = self.state
        group = self.controls.group
        if group is not None and group.stream is not None and self._burst is None:
            if self._has_half_alone:
                self._begin_burst(FeedStream.of(self.context, group.stream))
            else:
                self.controls.split()  # another core has requested the half in this cycle
                group = None
        idle = state.beat is None and state.returning == FREE
        if idle and group is not None and self.controls.next_event(now) == NEVER:
            self.controls.split()  # the group waits for something that the group does not simulate
        super().schedule(now)

    # The present state

    def _catch_up(self) -> None:
        """Write the present state of everything that the engine skips: macs, group, burst, special
        units.

        Afterwards there is no plan, lockstep group or burst.
        """
        controls, plans = self.controls, self.plans
        nothing = self._burst is None and controls.group is None
        if nothing and not plans.by_cluster and not self.special.waits:
            return
        device, divider = self.device, self.divider
        now = -(-device.frontier(self) // divider)
        if self._burst is not None:
            last = now - 1
            waits = last * divider == device.cycle and not device.is_arbitrated
            if waits and self._burst.has_beat(last):
                # the beat of this cycle waits for the arbiter
                if controls.acted < last:
                    self._simulate(last)
                if self._burst is not None:
                    self._stop_burst(last)
            else:
                self._stop_burst(now)
        # If another core faults, or the state is read, in the middle of the present cycle, only
        # some units of the row have done this cycle.
        between = now <= controls.acted + 1
        if controls.group is not None:
            controls.split(NEVER if between else now)
            due = min(self.state.due)
            if due < NEVER:
                self.time = min(self.time, max(due, now, controls.acted + 1) * divider)
        if plans.by_cluster or self.special.waits:
            present = max(now, controls.acted + 1)
            self.state.reached = max(self.state.reached, present)
            self.time = min(self.time, present * divider)
            plans.write_all(self.macs.computed if between else now)
            self.special.catch_up(self.special.simulated_to if between else now, only_ended=False)

    def _simulate(self, cycle: int) -> None:
        """Simulate cycle `cycle`, which the engine was about to skip."""
        self.time = cycle * self.divider
        self.cycle(cycle)

    def _on_contention(self, time: int) -> None:
        """End the burst, because another core requests the row's half in device cycle `time`.

        The row continues beat by beat.
        """
        self._stop_burst(-(-time // self.divider))

    def interrupt(self, time: int) -> None:
        """End a burst, because another core reads the row's results in device cycle `time`."""
        if self._burst is not None:
            self._on_contention(time)

    note_use = interrupt

    def _stop_burst(self, now: int) -> None:
        """End the burst at the start of cycle `now`, and simulate the row again from `now` on.

        If no beat is on a bus and there is no group, the row acts again only when a cluster has to
        act.
        """
        burst = self._burst
        self._end_burst(now)
        if isinstance(burst, ReturnBurst) and now <= burst.first:
            self.schedule(burst.first)
            self._request_return_beat(burst.first)
            return
        due, idle = now, self.state.beat is None and self.state.returning == FREE
        if idle and self.controls.group is None:
            due = max(now, min(*self.state.due, self.macs.next_end()))
        self.time = due * self.divider

    def _count_by_exe(self, burst: ReturnBurst, now: int) -> dict[int, int]:
        """Return, for each exe, how many beats of a burst it has stored before cycle `now`.

        The keys are the numbers of the exes in the trace.
        """
        found: dict[int, int] = {}
        for cluster, count in burst.count_by_cluster(now).items():
            number = self.trace_reports.storing(cluster)
            found[number] = found.get(number, 0) + count
        return found

    def _end_burst(self, now: int) -> None:
        """End the burst, if there is one: do its beats before cycle `now`.

        If a stream has not ended, its lockstep group splits: the group computed its times from
        beats that may come later now.
        """
        if self._burst is None:
            return
        burst, self._burst = self._burst, None
        memory = self.device.memory
        memory.banks.exclusive.pop(burst.half, None)
        if isinstance(burst, FeedStream):
            group = self.controls.group
            assert group is not None  # it cannot end before the stream
            beats = burst.write(self.bus, group, now)
        elif isinstance(burst, ReturnBurst):
            memory.halves[burst.half].sleeper = None
            counts = self._count_by_exe(burst, now) if self.tracing else {}
            beats = burst.write(self.return_bus, now)
        else:
            beats = burst.write(self.bus, now)
        if beats:
            time = burst.last_beat(now) * self.divider
            self.state.reached = max(self.state.reached, burst.reached(now))
            if not isinstance(burst, ReturnBurst):
                memory.banks.count_exclusive(self.memory.read_port, burst.half, time, reads=beats)
            else:
                port = self.memory.return_port
                for number, count in counts.items() or ((port.instruction, beats),):
                    port.instruction = number  # the trace counts writes of this exe
                    memory.banks.count_exclusive(port, burst.half, time, writes=count)
        if isinstance(burst, FeedStream):
            start = NEVER if now <= self.controls.acted + 1 else now
            if now < burst.end:
                self.controls.split(start)
            else:
                self.controls.end_stream(start)
