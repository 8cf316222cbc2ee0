"""The part of the dma that both engines share: a queue of transfers, moved beat by beat.

A transfer starts in the cycle of its `dma.copy`, or in the cycle after the end of the previous
transfer. Its first beat comes dma.setup cycles later. In each cycle the dma starts at most one
write and then one read. It writes the oldest beat that it has read, once the data of this beat are
ready. Reads are up to dma.buffer beats ahead of writes. On each side (source or destination), the
next beat follows when the channel of external memory has accepted the previous beat, or when the
banks have granted it. A transfer to on-chip memory ends in the cycle in which its last write is
granted. Any other transfer ends in the last cycle before the data of its last write can be read. A
core that waits for the transfer continues in the cycle after its end.

A multicast reads each beat once and writes it to several on-chip units in the same cycle. Each unit
grants the write on its own; the dma writes the next beat after the last of these grants.

A window (`macaw.isa.model.Window`) may take or give less than a beat, or nothing yet. If a transfer
can do nothing but wait for a window, the dma pauses it. In the next cycle the dma runs the first
other transfer that can do something. A transfer never overtakes another one through the same
window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from macaw.emu.address_space import ONCHIP, REGION_SHIFT
from macaw.emu.agents import Agent
from macaw.emu.core import CONTRACT, Core
from macaw.emu.dma.state import FIELDS, DmaState
from macaw.emu.dma.transfer import DESCRIPTION, Layout, Shape, Transfer, described
from macaw.emu.endpoints import Endpoint
from macaw.emu.faults import Fault
from macaw.emu.ports import Port
from macaw.emu.rules.transfers import transfer_end
from macaw.emu.system import System
from macaw.emu.tallies import INDEX, Tally
from macaw.emu.traced import Units
from macaw.emu.waits import NEVER, Waiting
from macaw.emu.windows import WindowNotReady
from macaw.isa.dma import CORE
from macaw.isa.memory_map import EXTERNAL, MOST_UNITS

MOST_SHAPES = 1024  # the greatest number of shapes of transfers that are kept, to save work


class DmaCore(Core):
    """The base class of the dma's two engines. The instructions of the dma are transfers.

    An engine adds `advance`, which calls `act` for each cycle, or has the same effects for many
    cycles at once. The engine may extend `load_transfer`, `find_runnable` and `request_beat`.
    """

    state: DmaState

    def __init__(self, device: System) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, DmaState((*CONTRACT, *FIELDS)))
        config = device.config
        self.divider = int(config["dma.divider"])
        self.setup = int(config["dma.setup"])
        self.queue = int(config["dma.queue"])
        self.width = int(config["dma.width"])
        self.depth = int(config["dma.buffer"])
        self.reader = device.memory.port(self)
        # A multicast writes to the i-th of its units through writers[i].
        self.writers = [device.memory.port(self) for _ in range(MOST_UNITS)]
        self.writer = self.writers[0]
        self.rows = 0  # the number of rows of the running transfer; 0 if it has no bytes
        # for each unit of a multicast: its distance in bytes from the transfer's destination
        self.offsets: Sequence[int] = (0,)
        self.ordered = False  # whether a row must be written before the next one is read
        self.tally = Tally()  # what the running transfer has used, for the trace
        # A function that is called with each requested transfer and the address of its description.
        self.on_request: Callable[[Transfer, int], None] = lambda _transfer, _address: None
        self._layouts: dict[Shape, Layout] = {}  # of the transfers that passed the check

    # Services for cp

    def submit(self, time: int, address: int, by: Agent) -> int | None:
        """Queue the transfer described at `address` for the core `by`, in cycle `time`.

        Return its ticket, or None if the queue is full. The dma needs no cycles for reading the
        description, only dma.setup. Raises `Fault` for an address that is no multiple of 4, or not
        in memory, and for a transfer that `Transfer.check` refuses.
        """
        state = self.state
        if len(state.transfers) >= self.queue:
            return None
        if address % 4:
            raise Fault(
                "misaligned access",
                f"description of a transfer at {address:#010x}, which is no multiple of 4",
                {"address": address, "size": DESCRIPTION},
            )
        memory = self.device.memory
        pages, offset = memory.locate(address, DESCRIPTION, "description of a transfer,")
        if pages.sleeper is not None:
            pages.sleeper.note_use(time)
        shape = described(pages.read(offset, DESCRIPTION))
        at = by.next_address
        place = -1 if at is None else at
        transfer = Transfer(state.issued + 1, *shape, by=by.name, address=place)
        if shape not in self._layouts:
            transfer.check(memory)
            self._add_layout(transfer)
        state.issued = transfer.ticket
        self.on_request(transfer, address)
        state.transfers.append(tuple(transfer))
        if len(state.transfers) == 1:
            # A core with a higher number acts after the dma, so the dma cannot start in this cycle.
            self._begin(time if by.number < self.number else time + 1)
        # the dma waits for windows, which this transfer may not need
        elif self.waiting is not None:
            at = time if by.number < self.number else time + 1
            self.time = min(self.time, self.aligned(at))
        return transfer.ticket

    def finished(self, ticket: int) -> bool:
        """Return whether the transfer with this ticket is done.

        For ticket 0, return whether all transfers are done. Raises `Fault` (bad mask) for a ticket
        that was never issued.
        """
        if ticket == 0:
            return not self.state.transfers
        issued = self.state.issued
        if ticket > issued:
            known = f"the last one started was {issued}" if issued else "none was started yet"
            raise Fault("bad mask", f"there is no transfer {ticket}, {known}", {"ticket": ticket})
        return all(item[0] != ticket for item in self.state.transfers)

    # Cycles

    @property
    def next_address(self) -> int | None:
        """None, because the dma executes no program."""
        return None

    def current(self) -> tuple[str, int | None]:
        """Return a text for the running transfer, and the address of the instruction that began it.

        Without a running transfer the result is "" and None.
        """
        if not self.state.transfers:
            return "", None
        transfer = Transfer(*self.state.transfers[0])
        text = f"transfer {transfer.ticket}, {transfer.size:,} bytes"
        return text, None if transfer.address < 0 else transfer.address

    def _begin(self, time: int) -> None:
        """Start the first transfer of the queue in cycle `time`, or resume it if it was paused."""
        state = self.state
        self.running = True
        self.load_transfer()
        state.began = self.aligned(time)
        paused = state.held.pop(self.transfer.ticket, None)
        if paused is not None:
            state.row, state.position, state.buffer, state.ready, state.number = paused
            self.time = state.read_free = state.write_free = state.began
            return
        state.number = self.retired + len(state.held)
        if self.tracing:
            self.tally.begin = state.began
        state.ready = state.began
        state.row = state.position = 0
        self.time = state.began + self.setup * self.divider
        state.read_free = state.write_free = self.time
        if self.listeners:
            self.announce("begin", **self.transfer.values())

    def load_transfer(self) -> None:
        """Set the attributes that describe the first transfer of the queue and its beats."""
        if self.state.transfers:
            self.transfer = Transfer(*self.state.transfers[0])
            self.copy = self.transfer.first_copy
            layout = self._layouts.get(self.transfer.shape) or self._add_layout(self.transfer)
            self.offsets, self.ordered = layout
            self.rows = self.transfer.rows if self.transfer.size else 0

    def _add_layout(self, transfer: Transfer) -> Layout:
        """Return the layout of a checked transfer; store it for later transfers of this shape."""
        if len(self._layouts) >= MOST_SHAPES:
            self._layouts.clear()
        return self._layouts.setdefault(transfer.shape, transfer.layout())

    def act(self) -> None:
        """Do the work of one cycle: at most one write and one read, or the end of the transfer.

        Raises `Fault` for a read or write that the memory or a window refuses.
        """
        state, time = self.state, self.time
        buffer = state.buffer
        if self.waiting is not None:  # read or write again at the window for which the dma waits
            state.read_free = min(state.read_free, time)
            state.write_free = min(state.write_free, time)
        later: list[WindowNotReady] = []
        try:
            if buffer and buffer[0][0] <= time and state.write_free <= time and not state.writing:
                try:
                    self._write(time)
                except WindowNotReady as wait:
                    later.append(wait)
                    state.write_free = NEVER
            if state.read_free <= time and self._can_read():
                try:
                    self._read(time)
                except WindowNotReady as wait:
                    later.append(wait)
                    state.read_free = NEVER
        except Fault as fault:
            raise self._with_transfer(fault) from None
        if not later:
            self._end_wait(time)
        self.plan(time, time + self.divider, later)

    def _can_read(self) -> bool:
        """Return whether a beat is left to read and the buffer has room for it."""
        state = self.state
        if state.row >= self.rows or state.reading >= 0 or len(state.buffer) >= self.depth:
            return False
        # A row may read what an earlier row wrote, so the dma must do those writes first.
        return not (self.ordered and state.position == 0 and (state.buffer or state.writing))

    def _read(self, time: int) -> None:
        state, transfer = self.state, self.copy
        src, dst, length, position = transfer.beat(
            state.row, state.position, self.width, self.offsets
        )
        window = self.reader.window(src, length)
        if window is not None:
            length = min(length, window.room(time, src, "read"))
            position = state.position + length
            data, ready = self.reader.pull(window, time, src, length)
            state.buffer.append((ready, dst, data))
            state.read_free = time + 1
        elif src >> REGION_SHIFT == ONCHIP:
            self._check_holder("read", src)
            self.request_beat(self.reader, time, src, length)
            state.reading = dst
        else:
            data, ready = self.reader.read(time, src, length)
            state.buffer.append((ready, dst, data))
            state.read_free = self._free(time, src)
        state.position = position
        if position == transfer.row_bytes:
            state.row += 1
            state.position = 0

    def _write(self, time: int) -> None:
        state = self.state
        ready, dst, data = state.buffer[0]
        window = self.writer.window(dst, len(data))
        if window is not None:
            room = window.room(time, dst, "write")
            self._count_write(len(data[:room]), self.writer.push(window, time, dst, data[:room]))
            state.write_free = time + 1
            if room < len(data):
                state.buffer[0] = (ready, dst + room, data[room:])
                return
        if window is None and dst >> REGION_SHIFT == ONCHIP:
            for offset in self.offsets:
                self._check_holder("write", dst + offset)
            for port, offset in zip(self.writers, self.offsets, strict=False):
                self.request_beat(port, time, dst + offset, len(data), data)
            state.writing, state.grants = len(data), len(self.offsets)
        elif window is None:
            self._count_write(len(data), self.writer.write(time, dst, data))
            state.write_free = self._free(time, dst)
        state.buffer.pop(0)

    def request_beat(
        self, port: Port, time: int, address: int, length: int, data: bytes | None = None
    ) -> None:
        """Request a read of `length` bytes at an on-chip `address`, or a write of `data` there.

        The request is made in cycle `time`. The arbiter passes the answer to `granted`.
        """
        port.beat(time, ((address, length),), data)

    def _free(self, time: int, address: int) -> int:
        """Return the first cycle in which a beat can start after a beat in cycle `time`.

        Both beats access the memory that contains `address`, which is not on-chip memory.
        """
        if address < EXTERNAL:
            return time + 1
        return max(time + 1, self.device.memory.channel.free)

    def _count_write(self, length: int, ready: int) -> None:
        state = self.state
        state.beats += 1
        state.bytes += length
        state.ready = max(state.ready, ready)

    def granted(self, port: Endpoint, data: bytes, time: int, ready: int) -> None:
        """Take the answer to a beat of on-chip memory, and set the cycle of the next act.

        `time` is the cycle of the grant; from cycle `ready` on the dma can use the data.
        """
        state = self.state
        if port is self.reader:
            state.buffer.append((ready, state.reading, data))
            state.reading = -1
        else:
            state.grants -= 1
            if not state.grants:
                self._count_write(state.writing, ready)
                state.writing = 0
        self.plan(time, time + 1)

    def plan(self, time: int, earliest: int, later: Sequence[WindowNotReady] = ()) -> None:
        """At the end of cycle `time`, set the cycle of the next act, `earliest` or later.

        `later` has the windows that refused a read or write in cycle `time`. If all beats are done,
        the transfer ends when its last data can be read: now, or in the next act.
        """
        state = self.state
        buffer, writing = state.buffer, state.writing
        if state.row >= self.rows and not (buffer or writing or state.reading >= 0):
            last = transfer_end(time, state.ready) - 1
            if last == time:
                self._end(time)
            else:
                self.time = last
            return
        self.time = NEVER  # the dma waits for memory, unless it finds something to do
        if buffer and not writing and state.write_free < NEVER:
            self.time = self.aligned(max(earliest, buffer[0][0], state.write_free))
        if self._can_read() and state.read_free < NEVER:
            self.time = min(self.time, self.aligned(max(earliest, state.read_free)))
        if later:
            self._wait_or_switch(time, later)
        elif self.waiting is not None:
            # the dma then tries the window again
            self.time = min(self.time, self.aligned(earliest))

    def _wait_or_switch(self, time: int, later: Sequence[WindowNotReady]) -> None:
        """Wait in cycle `time` for the windows in `later`, or switch to another transfer.

        The dma switches if the running transfer can only wait and another one can act.
        """
        state = self.state
        if self.time < NEVER or state.writing or state.reading >= 0:
            self._wait_for(time, later, self.time)
            return
        if any(item.ordered for item in later):
            self._wait_for(time, later, NEVER)
            return
        runnable = self.find_runnable(time, 1)
        if isinstance(runnable, int):
            self._end_wait(time)
            self._flush_uses(0)
            first = state.transfers[0]
            paused = (state.row, state.position, state.buffer, state.ready, state.number)
            state.held[first[0]] = paused
            state.busy += time + 1 - state.began
            state.buffer = []
            self._run_transfer(runnable, time + 1)
        else:
            self._wait_for(time, [*later, *runnable], NEVER)

    def _wait_for(self, time: int, later: Sequence[WindowNotReady], until: int) -> None:
        """Wait from cycle `time` on for the windows in `later`, but only until cycle `until`."""
        cores = 0
        for item in later:
            cores |= item.cores
            until = min(until, self.aligned(item.time) if item.time < NEVER else NEVER)
        on = " and ".join(dict.fromkeys(item.on for item in later))
        since = time if self.waiting is None else self.waiting.since
        self.waiting = Waiting(on, since, cores)
        self.time = until

    def _end_wait(self, time: int) -> None:
        if self.waiting is not None:
            self.end_wait(time)

    def find_runnable(self, time: int, skip: int) -> int | list[WindowNotReady]:
        """Return the index in the queue of the oldest transfer that can act in cycle `time`.

        The search skips the first `skip` transfers, and each transfer that would overtake an older
        one through the same window. If no transfer can act, return the list of windows for which
        they wait.
        """
        memory = self.device.memory
        taken = list(self.transfer.windows(memory)) if skip else []
        waits: list[WindowNotReady] = []
        places: Sequence[int] = range(skip, len(self.state.transfers))
        if self.state.held:  # else they are in the order of their tickets
            places = sorted(places, key=lambda place: self.state.transfers[place][0])
        for place in places:
            transfer = Transfer(*self.state.transfers[place])
            windows = transfer.windows(memory)
            if not any(window in taken for window in windows):
                try:
                    for window, what, address in windows.values():
                        window.room(time, address, what)
                except WindowNotReady as wait:
                    waits.append(wait)
                else:
                    return place
            taken += windows
        return waits

    def _run_transfer(self, place: int, time: int) -> None:
        """Move the transfer with index `place` to the front of the queue; run it from `time` on."""
        transfers = self.state.transfers
        transfers.insert(0, transfers.pop(place))
        self._begin(time)

    def _end(self, time: int) -> None:
        """End the running transfer in cycle `time`, and start the next one of the queue."""
        state = self.state
        state.transfers.pop(0)
        self.retired += 1
        self._flush_uses(time + 1)
        state.busy += time + 1 - state.began
        if self.listeners:
            self.announce("end", ticket=self.transfer.ticket)
        if state.transfers:
            runnable = self.find_runnable(time, 0)
            self._run_transfer(runnable if isinstance(runnable, int) else 0, time + 1)
        else:
            self.running = False
            self.time = NEVER
        self.device.changed(self, time)

    def _check_holder(self, what: str, address: int) -> None:
        """Raise `Fault` for access `what` if a running core owns the on-chip half of `address`."""
        holder = self.device.memory.holder(address)
        if holder is not None:
            raise Fault(
                "isolation violation",
                f"{what} at {address:#010x}, in the half from which {holder.name} feeds and runs",
                {"at": address, "holder": holder.name},
            )

    def _with_transfer(self, fault: Fault) -> Fault:
        """Return `fault` with the fields of the running transfer and its instruction's address."""
        transfer = self.transfer
        values = {**fault.values, **transfer.values()}
        address = None if transfer.address < 0 else transfer.address
        message = f"{fault.message}; {transfer.text()}"
        return Fault(fault.kind, message, values, core=self.name, address=address)

    # The trace

    def count_occurrence(
        self, what: str, time: int, until: int, count: int, number: int | None = None
    ) -> None:
        """Count `count` events of the kind `what`, which belong to the running transfer.

        They last from cycle `time` to `until` - 1; `number` is ignored. `_flush_uses` reports them
        to the trace block later.
        """
        self.tally.count_occurrence(INDEX[what], time, until, count)

    def _flush_uses(self, until: int) -> None:
        """Report to the trace block, if it records, the events counted since the last report.

        `until` is the first cycle after the transfer, or 0 if it has not ended.
        """
        if self.tracing:
            if until:
                self.tally.until = until
            self.trace.report_tally(self.tally, self.state.number)

    def trace_changed(self) -> None:
        """Drop the uses collected so far, because the trace has started or stopped recording."""
        self.tally.clear()

    @property
    def start_count(self) -> int:
        """The number of transfers that the dma has started."""
        return self.retired + len(self.state.held) + int(self.running)

    def units(self) -> Units:
        """Return the sizes of accesses, for the trace. The dma has no compute units."""
        return Units(0, 0, store=self.width)

    # State

    def sync(self) -> None:
        """Report the uses counted so far to the trace, and bring the declared state up to date."""
        self._flush_uses(0)
        super().sync()

    def counters(self) -> dict[str, int]:
        """Return the counters of the dma by name: transfers, beats, bytes, busy cycles."""
        state = self.state
        return {
            "transfers": self.retired,
            "beats": state.beats,
            "bytes": state.bytes,
            "cycles_busy": state.busy,
        }

    def reload(self) -> None:
        """Continue from the declared state; drop the counts that the trace has not got yet."""
        super().reload()
        self.tally.clear()
        self.load_transfer()
