"""The accountant of the dma: it charges each cycle of a transfer to a cause."""

from __future__ import annotations

from functools import reduce
from operator import or_

from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.core import Core, Event
from macaw.emu.dma.core import DmaCore
from macaw.emu.moves import Move, MoveLog


class DmaAccountant(Accountant):
    """Charges the cycles of transfers: to setup, beats, blocked banks, windows and latency.

    A cycle in which the dma reads or writes a beat is work, even if another beat waits in this
    cycle. If the rows of a transfer adjoin, one long row could move the same bytes in fewer beats.
    The cycles of the beats that the long row would save are charged to `narrow`.

    If memory takes or gives beats more slowly than the dma asks, the last beat takes longer than
    the first one. The additional cycles are charged to `channel`.

    For advice to programs, `along` has the cycles that a program saves, besides those of `latency`,
    if it joins two transfers to one. It saves the setup of the second transfer. Usually it also
    saves the cycles in which the second transfer only reads, before its first write: in the joined
    transfer, the dma still writes earlier beats in these cycles. The program does not save these
    cycles if source and destination are both in external memory, whose one channel cannot read and
    write at once.
    """

    core: DmaCore
    mendable = ("narrow", "latency", "data")

    def __init__(self, core: DmaCore) -> None:
        super().__init__(core)
        self.address: int | None = None  # the address of the running transfer's dma.copy
        self.setup = 0  # cycles of the running transfer's setup
        self.is_open = False  # whether a transfer runs
        self.moved: set[int] = set()  # cycles of the dma with a beat, since `at`
        self.blocked: set[int] = set()  # cycles in which a bank was taken
        self.beats = self.bytes = 0  # what the running transfer has read since `at`
        self.filling: set[int] = set()  # cycles with a read before the transfer's first write
        self.has_written = False
        # by kind, "read" or "write": the cycle in which the present act moved a beat
        self.now: dict[str, int] = {}
        # by kind, since `at`: the cycles that memory needed for the first beat and for the last one
        self.delays: dict[str, tuple[int, int]] = {}
        self.log_of_moves = MoveLog(core)
        self.moves, self.readers = self.log_of_moves.moves, self.log_of_moves.readers
        self.open_moves: dict[int, Move] = {}  # by ticket: transfers that have not ended

    def hear(self, event: Event) -> None:
        cycle = event.time // self.core.divider * self.core.divider
        if event.kind == "begin":
            self._end(self.core.state.began)
            self.idle(self.core.state.began)
            self.keep_charges()
            self._open(self.core.setup * self.core.divider)
            ticket, address = self.core.transfer.ticket, self.core.transfer.address
            self.open_moves[ticket] = self.log_of_moves.begin(self.core.state.began, address)
        elif event.kind == "end":
            self._end(event.time + 1)
            self.open_moves.pop(self.core.transfer.ticket).end = event.time + 1
        elif event.kind in ("read", "write"):
            if not self.is_open:  # a transfer that was paused continues
                self.idle(self.core.state.began)
                self._open(0)
            self.moved.add(cycle)
            address, size = int(event.values["address"]), int(event.values["size"])
            move = self.open_moves[self.core.transfer.ticket]
            if event.kind == "read":
                if not self.has_written:
                    self.filling.add(cycle)
                self.beats += 1
                self.bytes += size
                self.log_of_moves.read(move, address, size)
            else:
                self.has_written = True
                self.log_of_moves.write(move, address, size)
                if move.is_inward and move.is_outward:  # one channel for reads and writes
                    self.filling.clear()
            self.now[event.kind] = event.time
        elif event.kind == "blocked":
            self.blocked.add(cycle)

    def acted(self) -> None:
        """Record how long memory takes for the beats that the dma has moved in this cycle.

        The delay of an on-chip beat is not known yet, so it is not recorded.
        """
        state = self.core.state
        if "write" in self.now and not state.writing:
            self._record("write", state.ready)
        if "read" in self.now and state.reading < 0 and state.buffer:
            self._record("read", state.buffer[-1][0])
        self.now.clear()

    def _record(self, kind: str, ready: int) -> None:
        delay = ready - self.now[kind]
        first, _ = self.delays.get(kind, (delay, delay))
        self.delays[kind] = first, delay

    def _open(self, setup: int) -> None:
        address = self.core.transfer.address
        self.address = None if address < 0 else address
        self.setup, self.is_open = setup, True

    def _end(self, time: int) -> None:
        """Charge the running transfer up to cycle `time`."""
        if not self.is_open:
            return
        divider = self.core.divider
        whom = ", ".join(dict.fromkeys(waiting.on for waiting, _ in self.ended_waits))
        cores = reduce(or_, (waiting.cores for waiting, _ in self.ended_waits), 0)
        windows = sum(end - waiting.since for waiting, end in self.ended_waits)
        self.ended_waits.clear()
        moved, blocked = len(self.moved), len(self.blocked - self.moved)
        narrow = 0
        if self.beats and self._rows_adjoin():
            full = -(-self.bytes // self.core.width)
            narrow = moved * (self.beats - full) // self.beats
        self.beats = self.bytes = 0
        channel = max((last - first for first, last in self.delays.values()), default=0)
        self.delays.clear()
        self.moved.clear()
        self.blocked.clear()
        parts = (
            ("setup", self.setup),
            ("work", (moved - narrow) * divider),
            ("narrow", narrow * divider),
            ("banks", blocked * divider),
        )
        left = self.parts(time, self.address, parts)
        self.span("data", self.at + min(windows, left), self.address, whom, cores=cores)
        self.parts(time, self.address, (("channel", channel),))
        if self.at < time:
            along = self.along[Charge("latency", self.address)]
            along[Charge("setup", self.address)] += self.setup
            along[Charge("work", self.address)] += len(self.filling) * divider
        self.span("latency", time, self.address)
        self.filling.clear()
        self.is_open = self.has_written = False

    def _rows_adjoin(self) -> bool:
        """Return whether the rows of the running transfer follow each other without gaps.

        One long row could then move the same bytes.
        """
        transfer = self.core.transfer
        return transfer.row_bytes == transfer.src_stride == transfer.dst_stride

    def settle(self, time: int) -> None:
        waiting = self.core.waiting
        if waiting is not None:
            self.ended_waits.append((waiting, time))
        self._end(time)


def make(core: Core) -> Accountant:
    """Return a new accountant of the dma."""
    assert isinstance(core, DmaCore)
    return DmaAccountant(core)
