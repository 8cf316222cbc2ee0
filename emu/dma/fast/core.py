"""The fast engine of the dma: it moves beats without contention in bursts.

If no other core uses the memories of a transfer, the dma moves one beat in each cycle, and other
cores can notice only the last write. So the dma sleeps until that write. A core that needs these
memories earlier calls `interrupt` or `note_use`. Whoever reads the device's state calls `sync`.
Then the dma first does the cycles that it has skipped: in bursts, or one by one where beats have to
wait.

A transfer between local and external memory, or within one of them, needs no arbiter. The dma moves
its beats one by one, skips the periods in which they repeat, and returns to the clock only when
another core must act.
"""

from __future__ import annotations

from macaw.emu.address_space import REGION_SHIFT
from macaw.emu.agents import Agent
from macaw.emu.dma.core import MOST_SHAPES, DmaCore
from macaw.emu.dma.fast.burst import Burst, plan_burst
from macaw.emu.dma.fast.periods import Periods
from macaw.emu.dma.fast.route import Route, burst_route
from macaw.emu.dma.transfer import SHAPE, Shape, Transfer
from macaw.emu.faults import Fault, Stop
from macaw.emu.ports import Port
from macaw.emu.system import Dispatchable, System
from macaw.emu.waits import NEVER
from macaw.emu.windows import WindowNotReady
from macaw.isa.memory_map import EXTERNAL

_SHORTEST = 4  # the least number of beats of a burst: shorter ones cost more time than they save
_PERIODIC = 16  # the least number of beats of a transfer whose periods are searched
_RETRY = 4  # cycles from a failed try to sleep, or from an interruption, to the next try


class FastDma(DmaCore):
    """The dma that does the work of many cycles at once where other cores cannot notice."""

    def __init__(self, device: System) -> None:
        super().__init__(device)
        # the route of the running transfer; None if bursts cannot move it
        self.route: Route | None = None
        # the shape of the last transfer that `load_transfer` has loaded; None if the route of this
        # shape may have changed since
        self._loaded: Shape | None = None
        self._routes: dict[Shape, Route | None] = {}
        # The areas of external memory to which cores write trace records; None if not known.
        self._areas: list[tuple[int, int]] | None = None
        # a row of no more bytes has fewer beats than `_SHORTEST`
        self._least = (_SHORTEST - 2) * self.width
        self._burst: Burst | None = None  # the burst that the dma planned when it began to sleep
        self._asleep = False  # while the dma sleeps, it has yet to do the cycles from `_next` on
        self._next = 0  # the first cycle that the sleeping dma has yet to do
        self._retry = 0  # the number of cycles before the next try to sleep
        # whether the running transfer uses only local and external memory
        self._unarbitrated = False
        self._periods = Periods(self)  # of a transfer without an arbiter
        # requests of on-chip beats in the present cycle, while it sleeps
        self._requests: list[tuple[Port, int, int, bytes | None]] = []

    # The contract

    def advance(self, limit: int) -> Stop | None:
        """Sleep until the last write of a transfer, or do the work of one cycle.

        The dma sleeps if no other core can notice that it does the cycles before that write later.
        For a transfer that needs no arbiter, do all its cycles before cycle `limit`. Raises
        `Fault`.
        """
        if self._asleep:
            self._wake(self.time)
            if self.time >= limit:
                return None
        if self._retry:
            self._retry -= 1
        elif self._sleep(limit) or self.time >= limit:
            return None
        device, transfer = self.device, self.transfer
        if not self._unarbitrated:
            device.cycle = self.time
            self.act()
            return None
        many = transfer.size >= _PERIODIC * self.width
        periods = self._periods if many and self._may_skip() else None
        while self.time < limit and self.transfer is transfer:
            if periods is not None:
                periods.skip(limit)
            device.cycle = self.time
            self.act()
        return None

    def _may_skip(self) -> bool:
        """Return whether no listener and no other core can notice single acts of a transfer.

        The method also restarts the search for the period of the transfer, because other cores may
        have acted.
        """
        self._periods.restart()
        memory, transfer = self.device.memory, self.copy
        noticed = self.listeners or self.waiting is not None or self.ordered
        if noticed or memory.channel.jitter is not None or memory.channel.sleeper is not None:
            return False
        return not any(
            address >> REGION_SHIFT in memory.windowed
            or memory.locate(address, transfer.row_bytes)[0] in memory.guards
            for address in (transfer.src, transfer.dst)
        )

    def sync(self) -> None:
        """Do the cycles that were skipped, and bring the declared state up to date.

        The dma no longer sleeps afterwards.
        """
        if self._asleep:
            device = self.device
            present = device.frontier(self)
            if present > device.cycle and not device.is_arbitrated:
                self._wake_within(device.cycle)  # the arbiter has yet to grant its beats
            else:
                self._wake(present)
        super().sync()

    def counters(self) -> dict[str, int]:
        """Do the cycles that were skipped, and return the counters by name."""
        self.sync()
        return super().counters()

    def reload(self) -> None:
        """Continue from the declared state; the dma does not sleep."""
        self._stop_sleeping()
        self._areas = self._loaded = None
        super().reload()

    def load_transfer(self) -> None:
        """Set the attributes for the queue's first transfer; decide whether bursts can move it.

        A burst is a sequence of many beats without gaps, which the dma moves at once.
        """
        transfers = self.state.transfers
        self._retry = 0
        if transfers and transfers[0][SHAPE] == self._loaded:
            self.transfer = Transfer(*transfers[0])
            self.copy = self.transfer.first_copy
            return
        super().load_transfer()
        self._loaded = self.transfer.shape if transfers else None
        self.route = None
        if self.state.transfers and self.rows and not self.ordered:
            route = self._find_route()
            self.route = None if route is None or self._overlaps_records(route) else route
        self._unarbitrated = self.route is None and self._needs_no_arbiter()

    def find_runnable(self, time: int, skip: int) -> int | list[WindowNotReady]:
        """Return the index of the oldest transfer that can act in cycle `time`.

        The search skips the first `skip` transfers. If no transfer can act, return the list of
        windows for which they wait. A transfer that bursts can move uses no window, so it can
        always act. If the transfer that was loaded last is such a transfer, and the first transfer
        of the queue has the same shape (addresses and sizes), the result is 0 without a search.
        """
        state = self.state
        follows = self.route is not None and not skip and not state.held
        if follows and state.transfers[0][SHAPE] == self._loaded:
            return 0
        return super().find_runnable(time, skip)

    def _find_route(self) -> Route | None:
        """Return the route of the running transfer: the memories between which bursts move it.

        The route is stored for later transfers of the same shape. The result is None if bursts
        cannot move the transfer, or if the transfer is one row of few beats.
        """
        if self.rows == 1 and self.transfer.size <= self._least:
            return None
        shape = self.transfer.shape
        if shape not in self._routes:
            if len(self._routes) >= MOST_SHAPES:
                self._routes.clear()
            self._routes[shape] = burst_route(self.transfer, self.width, self.device.memory)
        return self._routes[shape]

    def _needs_no_arbiter(self) -> bool:
        """Return whether the running transfer uses only local and external memory."""
        if not self.state.transfers or not self.rows:
            return False
        memory, transfer = self.device.memory, self.transfer
        for first, stride in (
            (transfer.src, transfer.src_stride),
            # `dst` of a multicast is on-chip, with the number of further units in it or without
            (transfer.dst, transfer.dst_stride),
        ):
            last = first + (transfer.rows - 1) * stride
            low, end = min(first, last), max(first, last) + transfer.row_bytes
            if low < EXTERNAL and end > memory.local_bytes:
                return False
        return True

    def _overlaps_records(self, route: Route) -> bool:
        """Return whether a core may write trace records to external memory that `route` uses."""
        side = route.src if route.src.external else route.dst
        if not side.external:
            return False
        if self._areas is None:
            states = [core.state for core in self.device.present]
            areas = [(state.trace_spill, state.trace_spill_end) for state in states]
            self._areas = [(begin, end) for begin, end in areas if begin < end]
        return any(begin < side.end and side.low < end for begin, end in self._areas)

    def areas_changed(self) -> None:
        """React to a change of a spill area: decide again whether bursts can move the transfer."""
        self.sync()
        self._areas = self._loaded = None
        self.load_transfer()

    # What other cores call while the dma sleeps

    def interrupt(self, time: int) -> None:
        """Do the skipped cycles before `time`, and wake up: another core needs the memories."""
        if not self._asleep:
            return
        self._retry = _RETRY
        if self.device.had_turn(self):
            self._wake_within(time)
        else:
            self._wake(time)

    def note_use(self, time: int) -> None:
        """Do the skipped cycles before cycle `time`, in which another core uses the same memory.

        That core reads what the transfer writes, or uses the channel. In each cycle, the cores have
        their turns in a fixed order. If the dma has had its turn in cycle `time`, it wakes up.
        Otherwise it continues to sleep: such a use may delay the transfer's last write, but cannot
        make this write earlier.
        """
        if self.device.had_turn(self):
            self.interrupt(time)
        else:
            self._catch_up(time)

    # Sleeping

    def _sleep(self, limit: int) -> bool:
        """Sleep until the last write of the transfer if no other core can notice a difference.

        If the device has jitter, the sleep ends before the cycle in which noise may occupy the
        channel (`Burst.limit`). If no other core acts before the end of the sleep, do all cycles of
        the sleep at once instead. `limit` is the first cycle in which another core may act. Return
        whether the dma has nothing more to do now: it sleeps, or it has ended the transfer.
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
        if self._finishes(burst, route, limit):
            self.device.cycle, self.device.turn = burst.end, NEVER  # the turn of the arbiter
            self.time = NEVER
            try:
                burst.finish()
            except Fault as fault:  # the trace cannot write its record
                fault.cycle = burst.end
                raise
            return True
        if self.aligned(burst.end) < limit:
            burst.run(burst.end)
            return False
        memory = self.device.memory
        for half in route.halves:
            memory.banks.exclusive[half] = self.interrupt
        if route.external:
            memory.channel.sleeper = self
        for pages in route.written:
            pages.sleeper = self
        self._asleep = True
        self._burst = burst
        self._next = time
        self.time = self.aligned(burst.end)
        return True

    def _finishes(self, burst: Burst, route: Route, limit: int) -> bool:
        """Return whether the dma itself can grant the last write of `burst` over `route`.

        That is so if the arbiter would grant this write at once: there is one destination, which is
        in on-chip memory, no request waits for the arbiter, and no other core acts in the cycle of
        the write. The next act of another core is in cycle `limit` or later.
        """
        banks = self.device.memory.banks
        is_quiet = banks.time == NEVER and not banks.exclusive
        return (
            is_quiet
            and burst.end == burst.last_write < limit - 1
            and route.dst.onchip
            and len(route.destinations) == 1
            and self.waiting is None
        )

    def _is_alone(self, route: Route) -> bool:
        """Return whether a sleeping dma would learn of all uses of `route`'s memories by others.

        The memories call `interrupt` or `note_use` for the accesses of other cores. The result is
        False, for example, if a core has decoded instructions from the destination, or now has an
        on-chip half of the route for itself.
        """
        memory = self.device.memory
        banks = memory.banks
        for half in route.halves:
            if banks.has_request_in(half) or memory.holder(memory.half_address(half)) is not None:
                return False
        if route.overwrites_code():
            return False
        number = self.number
        for core in self.device.present:
            if core.running and core.number > number and not _is_confined(core):
                return False
        return True

    def _wake(self, time: int) -> None:
        """Do the skipped cycles before `time` and stop sleeping; the clock then calls `advance`
        again.
        """
        self._catch_up(time)
        self._stop_sleeping()
        self.time = self._next

    def _stop_sleeping(self) -> None:
        if self._asleep:
            self._asleep = False
            route, memory = self.route, self.device.memory
            assert route is not None  # a sleeping dma has a route
            for half in route.halves:
                memory.banks.exclusive.pop(half, None)
            memory.channel.sleeper = None
            for pages in route.written:
                pages.sleeper = None

    def _wake_within(self, time: int) -> None:
        """Stop sleeping in the middle of cycle `time`, after the dma's turn in this cycle."""
        self._wake(time)
        if self.time == time:
            self.act()

    def _catch_up(self, time: int) -> None:
        """Do the skipped cycles before `time`."""
        route, end, memory = self.route, self.time, self.device.memory
        assert route is not None  # a sleeping dma has a route
        self.time = self._next
        while self.time < time:
            burst, self._burst = self._burst, None
            if burst is None or burst.free != memory.channel.free:
                burst = plan_burst(self, route, self.time)
            if burst is None or not burst.run(time):
                self._act_and_grant()
        self._next, self.time = self.time, end

    def _act_and_grant(self) -> None:
        """Do one skipped cycle, and grant its on-chip beats without the arbiter."""
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
        """Request a read of `length` bytes of on-chip memory, or a write of `data` there.

        While the dma sleeps, this method stores the request for `_act_and_grant`, which grants it.
        """
        if self._asleep:
            self._requests.append((port, address, length, data))
        else:
            super().request_beat(port, time, address, length, data)


def _is_confined(core: Agent) -> bool:
    """Return whether a core accesses no memory but its on-chip unit."""
    return isinstance(core, Dispatchable) and core.confined
