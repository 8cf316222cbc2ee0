"""The fast engine of the dma: it moves beats without contention in bursts.

If no other core uses the memories of a transfer, one beat follows another in each cycle, and other
cores can notice only the last write. So the dma sleeps until that write. A core that needs these
memories earlier calls `interrupt` or `note_use`; a device that is read calls `sync`. Then the dma
first does the cycles that it has skipped: in bursts, or one by one where beats have to wait.

A transfer between local and external memory, or within one of them, needs no arbiter. The dma moves
its beats one by one, and returns to the clock only when another core must act.
"""

from __future__ import annotations

from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.fast.burst import plan_burst
from macaw.emu.dma.fast.route import Route, burst_route
from macaw.emu.faults import Stop
from macaw.emu.ports import Port
from macaw.emu.system import Dispatchable, System
from macaw.isa.memory_map import EXTERNAL

_SHORTEST = 4  # beats: shorter bursts cost more than they save
_RETRY = 4  # cycles after a failed try to sleep, or a disturbance, before the next try


class FastDma(DmaCore):
    """The dma that does many cycles at once where other cores cannot notice."""

    def __init__(self, device: System) -> None:
        super().__init__(device)
        self.route: Route | None = None  # of the running transfer, if bursts can move it
        self._asleep = False  # the cycles from `_next` on have been skipped so far
        self._next = 0  # cycle of the next act while it sleeps
        self._retry = 0  # cycles before the next try to sleep
        self._unarbitrated = False  # the running transfer uses local and external memory alone
        self._requests: list[tuple[Port, int, int, bytes | None]] = []  # of the present cycle

    # The contract

    def advance(self, limit: int) -> Stop | None:
        """Sleep until the last write if other cores notice nothing before it; else do one cycle.

        A transfer without on-chip memory does all its cycles before cycle `limit`. Raises `Fault`.
        """
        if self._asleep:
            self._wake(self.time)
            if self.time >= limit:
                return None
        if self._retry:
            self._retry -= 1
        elif self._sleep():
            return None
        if not self._unarbitrated:
            self.act()
            return None
        device, transfer = self.device, self.transfer
        while self.time < limit and self.transfer is transfer:
            device.cycle = self.time
            self.act()
        return None

    def sync(self) -> None:
        """Do the cycles that were skipped, and bring the declared state up to date.

        Afterwards the dma is awake.
        """
        if self._asleep:
            device = self.device
            present = device.frontier(self)
            if present > device.cycle and not device.arbitrated:
                self._wake_within(device.cycle)  # its beats wait for their grants
            else:
                self._wake(present)
        super().sync()

    def counters(self) -> dict[str, int]:
        """Return the counters by name, after the cycles that were skipped."""
        self.sync()
        return super().counters()

    def reload(self) -> None:
        """Continue from the declared state, awake."""
        self._stop_sleeping()
        super().reload()

    def load_transfer(self) -> None:
        """Set the attributes for the queue's first transfer; decide whether bursts can move it."""
        super().load_transfer()
        self.route = None
        self._retry = 0
        if self.state.transfers and self.rows and not self.ordered:
            route = burst_route(self.transfer, self.width, self.device.memory)
            self.route = None if route is None or self._overlaps_records(route) else route
        self._unarbitrated = self.route is None and self._needs_no_arbiter()

    def _needs_no_arbiter(self) -> bool:
        """Return whether the running transfer uses only local and external memory."""
        if not self.state.transfers or not self.rows:
            return False
        memory, transfer = self.device.memory, self.transfer
        for first, stride in (
            (transfer.src, transfer.src_stride),
            (transfer.dst, transfer.dst_stride),  # of a multicast: not in these memories either
        ):
            last = first + (transfer.rows - 1) * stride
            low, end = min(first, last), max(first, last) + transfer.row_bytes
            if low < EXTERNAL and end > memory.local_bytes:
                return False
        return True

    def _overlaps_records(self, route: Route) -> bool:
        """Return whether a core may write trace records to addresses that the transfer uses.

        Only external memory is tested.
        """
        side = route.src if route.src.external else route.dst
        for core in self.device.order if side.external else ():
            begin, end = core.state.trace_spill, core.state.trace_spill_end
            if begin < end and begin < side.end and side.low < end:
                return True
        return False

    def areas_changed(self) -> None:
        """React to a change of a spill area: decide again whether bursts can move the transfer."""
        self.sync()
        self.load_transfer()

    # Other cores while it sleeps

    def interrupt(self, time: int) -> None:
        """Do the skipped cycles before `time` and wake, because another core needs the memories."""
        if not self._asleep:
            return
        self._retry = _RETRY
        if self.device.had_turn(self):
            self._wake_within(time)
        else:
            self._wake(time)

    def note_use(self, time: int) -> None:
        """Do the skipped cycles before `time`, because another core uses the same memory then.

        That core reads what the transfer writes, or uses the channel. The dma continues to sleep:
        other uses of the channel may delay its last write, but cannot advance it.
        """
        if self.device.had_turn(self):
            self.interrupt(time)
        else:
            self._catch_up(time)

    # Sleeping

    def _sleep(self) -> bool:
        """Sleep until the last write if others can notice nothing before it.

        Return whether the dma sleeps.
        """
        route, state, time = self.route, self.state, self.time
        if route is None or self.listeners or state.reading >= 0 or state.writing:
            return False
        if route.remaining(state.row, state.position) + len(state.buffer) < _SHORTEST:
            return False
        burst = plan_burst(self, route, time)
        if burst is None or burst.limit < time + _SHORTEST or not self._is_alone(route):
            self._retry = _RETRY
            return False
        memory = self.device.memory
        for half in route.halves:
            memory.banks.exclusive[half] = self.interrupt
        if route.external:
            memory.channel.sleeper = self
        for pages in route.written:
            pages.sleeper = self
        self._asleep = True
        self._next = time
        self.time = self.aligned(burst.end)
        return True

    def _is_alone(self, route: Route) -> bool:
        """Return whether every use of the transfer's memories by others would wake the dma."""
        memory = self.device.memory
        banks = memory.banks
        for half in route.halves:
            if banks.has_request_in(half) or memory.holder(memory.half_address(half)) is not None:
                return False
        if route.overwrites_code():
            return False
        return not any(
            core.running
            and core.number > self.number
            and not (isinstance(core, Dispatchable) and core.confined)
            for core in self.device.order
        )

    def _wake(self, time: int) -> None:
        """Do the skipped cycles before `time`; from then on the clock calls `advance` again."""
        self._catch_up(time)
        self._stop_sleeping()
        self.time = self._next

    def _stop_sleeping(self) -> None:
        if self._asleep:
            self._asleep = False
            route, memory = self.route, self.device.memory
            assert route is not None  # it sleeps
            for half in route.halves:
                memory.banks.exclusive.pop(half, None)
            memory.channel.sleeper = None
            for pages in route.written:
                pages.sleeper = None

    def _wake_within(self, time: int) -> None:
        """Wake in the middle of cycle `time`, after the dma has had its turn."""
        self._wake(time)
        if self.time == time:
            self.act()

    def _catch_up(self, time: int) -> None:
        """Do the skipped cycles before `time`."""
        route, end = self.route, self.time
        assert route is not None  # it sleeps
        self.time = self._next
        while self.time < time:
            burst = plan_burst(self, route, self.time)
            if burst is None or not burst.run(time):
                self._act_and_grant()
        self._next, self.time = self.time, end

    def _act_and_grant(self) -> None:
        """Do one cycle of the sleeping dma, and grant its on-chip beats without the arbiter."""
        time, memory = self.time, self.device.memory
        sleeper, memory.channel.sleeper = memory.channel.sleeper, None
        self.act()
        memory.channel.sleeper = sleeper
        requests, self._requests = self._requests, []
        for port, address, length, data in requests:
            answer, ready = memory.banks.grant_exclusive(port, time, address, length, data)
            self.granted(port, answer, time, ready)

    def request_beat(
        self, port: Port, time: int, address: int, length: int, data: bytes | None = None
    ) -> None:
        """Request a beat of on-chip memory.

        While the dma sleeps, keep the request for `_act_and_grant`, which grants it.
        """
        if self._asleep:
            self._requests.append((port, address, length, data))
        else:
            super().request_beat(port, time, address, length, data)
