"""The fast engine of the dma: beats that meet nobody are moved many at a time.

While nobody else asks for the halves and the channel that a transfer uses, its beats follow each
other one a cycle, and only the last write can be noticed by anybody. So the engine sleeps until
then. Who comes before (`disturbed`, `shared`, `sync`) finds everything as it is at that moment:
what was left out is done first, cycle by cycle where beats wait, otherwise all at once.

A transfer between places of local and external memory goes on beat by beat while nobody else acts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.dma.engine import Dma
from macaw.emu.dma.lane import Lane, lane_of
from macaw.emu.dma.steady import steady
from macaw.isa.memory_map import EXTERNAL

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.faults import Stop
    from macaw.emu.ports import Port

_FEWEST = 4  # beats that are worth it
_PATIENCE = 4  # acts before it is tried again


class FastDma(Dma):
    """Fast engine of the dma."""

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.lane: Lane | None = None  # of the running transfer, if its beats may go alone
        self._asleep = False  # nobody has seen the acts from `_next` on
        self._next = 0  # the next act while it sleeps
        self._patience = 0
        self._unseen = False  # the beats of the running transfer ask nobody
        self._asked: list[tuple[Port, int, int, bytes | None]] = []

    # The contract

    def advance(self, limit: int) -> Stop | None:
        """Go on until somebody could notice; a cycle if that is now."""
        if self._asleep:
            self._wake(self.time)
            if self.time >= limit:
                return None
        if self._patience:
            self._patience -= 1
        elif self._sleep():
            return None
        if not self._unseen:
            return super().advance(limit)
        device, transfer = self.device, self.transfer
        while self.time < limit and self.transfer is transfer:
            device.cycle = self.time
            super().advance(limit)
        return None

    def sync(self) -> None:
        """Bring the declared state to the present; nothing is left out from now on."""
        if self._asleep:
            device = self.device
            present = device.frontier(self)
            if present > device.cycle and not device.arbitrated:
                self._meet(device.cycle)  # its beats wait for their grants
            else:
                self._wake(present)
        super().sync()

    def counters(self) -> dict[str, int]:
        """See `Core.counters`."""
        self.sync()
        return super().counters()

    def reload(self) -> None:
        """Go on from the declared state."""
        self._forget()
        super().reload()

    def _prepare(self) -> None:
        super()._prepare()
        self.lane = None
        self._patience = 0
        if self.state.transfers and self.rows and not self.ordered:
            lane = lane_of(self.transfer, self.width, self.device.memory)
            self.lane = None if lane is None or self._meets_records(lane) else lane
        self._unseen = self.lane is None and self._asks_nobody()

    def _asks_nobody(self) -> bool:
        """Whether all that the running transfer moves lies in local and external memory."""
        if not self.state.transfers or not self.rows:
            return False
        memory, transfer = self.device.memory, self.transfer
        for first, stride in (
            (transfer.src, transfer.src_stride),
            (transfer.dst, transfer.dst_stride),
        ):
            last = first + (transfer.rows - 1) * stride
            low, end = min(first, last), max(first, last) + transfer.row_bytes
            if low < EXTERNAL and end > memory.local_bytes:
                return False
        return True

    def _meets_records(self, lane: Lane) -> bool:
        """Whether records of traces may come to the external memory of a transfer, unasked."""
        side = lane.src if lane.src.external else lane.dst
        for core in self.device.order if side.external else ():
            begin, end = core.state.trace_spill, core.state.trace_spill_end
            if begin < end and begin < side.end and side.low < end:
                return True
        return False

    def areas_changed(self) -> None:
        """Look again whether the beats of the running transfer may go alone."""
        self.sync()
        self._prepare()

    # Those who come before it wakes

    def disturbed(self, time: int) -> None:
        """Somebody asks in cycle `time` for what the transfer uses: beat by beat from now on."""
        if not self._asleep:
            return
        self._patience = _PATIENCE
        if self.device.had_turn(self):
            self._meet(time)
        else:
            self._wake(time)

    def shared(self, time: int) -> None:
        """Somebody looks at what the transfer writes, or takes the channel, in cycle `time`.

        It may sleep on: what others take of the channel makes its end later, never earlier.
        """
        if self.device.had_turn(self):
            self.disturbed(time)
        else:
            self._catch_up(time)

    # Sleeping

    def _sleep(self) -> bool:
        """Sleep until the last write, if nobody can notice anything before."""
        lane, state, time = self.lane, self.state, self.time
        if lane is None or self.listeners or state.reading >= 0 or state.writing:
            return False
        if lane.left(state.row, state.position) + len(state.buffer) < _FEWEST:
            return False
        ahead = steady(self, lane, time)
        if ahead is None or ahead.clear < time + _FEWEST or not self._meets_nobody(lane):
            self._patience = _PATIENCE
            return False
        memory = self.device.memory
        for half in lane.halves:
            memory.banks.alone[half] = self.disturbed
        if lane.external:
            memory.channel.sleeper = self
        for pages in lane.written:
            pages.sleeper = self
        self._asleep = True
        self._next = time
        self.time = self.aligned(ahead.gone)
        return True

    def _meets_nobody(self, lane: Lane) -> bool:
        """Whether nobody who could come unasked is about."""
        memory = self.device.memory
        banks = memory.banks
        for half in lane.halves:
            if banks.wanted(half) or memory.holder(memory.half_address(half)) is not None:
                return False
        if lane.holds_code():
            return False
        return not any(
            core.running and not core.confined and core.number > self.number
            for core in self.device.order
        )

    def _wake(self, time: int) -> None:
        """Do what was left out before cycle `time`; from then on the clock has it again."""
        self._catch_up(time)
        self._forget()
        self.time = self._next

    def _forget(self) -> None:
        if self._asleep:
            self._asleep = False
            lane, memory = self.lane, self.device.memory
            assert lane is not None  # it sleeps
            for half in lane.halves:
                memory.banks.alone.pop(half, None)
            memory.channel.sleeper = None
            for pages in lane.written:
                pages.sleeper = None

    def _meet(self, time: int) -> None:
        """Wake in the middle of cycle `time`, in which it has had its turn."""
        self._wake(time)
        if self.time == time:
            super().advance(time + 1)

    def _catch_up(self, time: int) -> None:
        """Do what was left out before cycle `time`."""
        lane, end = self.lane, self.time
        assert lane is not None  # it sleeps
        self.time = self._next
        while self.time < time:
            ahead = steady(self, lane, self.time)
            if ahead is None or not ahead.go(time):
                self._act_alone()
        self._next, self.time = self.time, end

    def plan_after(self, time: int) -> None:
        """Plan the next act after beats of which the last one was granted in cycle `time`."""
        self._plan(time, time + 1)

    def _act_alone(self) -> None:
        """A cycle of the engine whose beats are granted at its end."""
        time, memory = self.time, self.device.memory
        sleeper, memory.channel.sleeper = memory.channel.sleeper, None
        super().advance(time + 1)
        memory.channel.sleeper = sleeper
        asked, self._asked = self._asked, []
        for port, address, length, data in asked:
            found, ready = memory.banks.grant_alone(port, time, address, length, data)
            self.granted(port, found, time, ready)

    def _ask(
        self, port: Port, time: int, address: int, length: int, data: bytes | None = None
    ) -> None:
        if self._asleep:
            self._asked.append((port, address, length, data))
        else:
            super()._ask(port, time, address, length, data)
