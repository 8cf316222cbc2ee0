"""The transfer engine 235: a queue of transfers, moved one after the other, a beat a cycle.

A transfer begins in the cycle of its `dma.copy`, or in the cycle after the end of
the one before it. From dma.setup cycles later on, the engine begins in each cycle at
most one write (of the oldest beat that was read, once it is ready) and one read,
in this order; it reads up to dma.buffer beats ahead. The next beat of the same
side follows when the channel of external memory has taken the last one, or when
its banks were granted. The transfer ends in the cycle in which the last
write is granted, or, to other memory, in the last cycle before it is ready;
whoever waits for it goes on in the cycle after.

A window (`macaw.isa.model.Window`) may take or give less than a beat, or nothing yet. A transfer
that can do nothing but wait for one lets the first other that can do something go on in the next
cycle, but none that goes through the same window.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from macaw.emu.core import CONTRACT, NEVER, Core, Units, Waiting
from macaw.emu.dma.origins import Transfers
from macaw.emu.dma.state import FIELDS, DmaState
from macaw.emu.dma.transfer import DESCRIPTION, Transfer
from macaw.emu.faults import Fault, Stop
from macaw.emu.origins import Origins
from macaw.emu.ports import ONCHIP, REGION_SHIFT
from macaw.emu.trace import BEFORE
from macaw.emu.windows import Later
from macaw.isa.codec import unpack
from macaw.isa.dma import CORE, TRANSFER
from macaw.isa.memory_map import EXTERNAL

if TYPE_CHECKING:
    from macaw.emu.device import Device
    from macaw.emu.ports import Port


class Dma(Core):
    """The one core of the table dma. An instruction of it is a transfer."""

    state: DmaState

    def __init__(self, device: Device) -> None:
        super().__init__(device, CORE, CORE.name, CORE.number, DmaState((*CONTRACT, *FIELDS)))
        config = device.config
        self.divider = int(config["dma.divider"])
        self.setup = int(config["dma.setup"])
        self.queue = int(config["dma.queue"])
        self.width = int(config["dma.width"])
        self.depth = int(config["dma.buffer"])
        self.reader = device.memory.port(self)
        self.writer = device.memory.port(self)
        self.rows = 0  # of the running transfer, 0 if it has no bytes
        self.ordered = False  # its rows must not overtake one another
        # What the trace will have of it, by occurrence: that, its begin, end and count.
        self._uses: dict[str, tuple[str, int, int, int]] = {}
        self._begun = BEFORE  # when it began, if the trace does not know that

    # What cp asks for

    def submit(self, time: int, address: int, by: Core) -> int | None:
        """See `macaw.emu.device.Copier`. Reading the description costs nothing beside dma.setup."""
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
            pages.sleeper.shared(time)
        values = unpack(TRANSFER, pages.read(offset, DESCRIPTION))
        at = by.next_address
        place = -1 if at is None else at
        transfer = Transfer(state.issued + 1, **values, by=by.name, address=place)
        transfer.check(memory)
        state.issued = transfer.ticket
        state.transfers.append(tuple(transfer))
        if len(state.transfers) == 1:
            # A core that acts after this one in a cycle comes too late for that cycle.
            self._begin(time if by.number < self.number else time + 1)
        elif self.waiting is not None:  # for windows, of which this one may know nothing
            at = time if by.number < self.number else time + 1
            self.time = min(self.time, self.aligned(at))
        return transfer.ticket

    def finished(self, ticket: int) -> bool:
        """See `macaw.emu.device.Copier`. Raises `Fault` for a ticket that was never given."""
        if ticket == 0:
            return not self.state.transfers
        issued = self.state.issued
        if ticket > issued:
            given = f"the last one started was {issued}" if issued else "none was started yet"
            raise Fault("bad mask", f"there is no transfer {ticket}, {given}", {"ticket": ticket})
        return all(item[0] != ticket for item in self.state.transfers)

    # The engine

    @property
    def next_address(self) -> int | None:
        """None: it executes no program."""
        return None

    def current(self) -> tuple[str, int | None]:
        """The running transfer, and the instruction that asked for it."""
        if not self.state.transfers:
            return "", None
        transfer = Transfer(*self.state.transfers[0])
        text = f"transfer {transfer.ticket}, {transfer.size:,} bytes"
        return text, None if transfer.address < 0 else transfer.address

    def _begin(self, time: int) -> None:
        """Begin the first transfer of the queue at `time`, or go on with it."""
        state = self.state
        self.running = True
        self._prepare()
        state.began = self.aligned(time)
        held = state.held.pop(self.transfer.ticket, None)
        if held is not None:
            state.row, state.position, state.buffer, state.ready, state.number = held
            self.time = state.read_free = state.write_free = state.began
            return
        state.number = self.retired + len(state.held)
        if self.tracing:
            self._begun = state.began
        state.ready = state.began
        state.row = state.position = 0
        self.time = state.began + self.setup * self.divider
        state.read_free = state.write_free = self.time
        if self.listeners:
            self.announce("begin", **self.transfer.values())

    def _prepare(self) -> None:
        """Hold what derives from the running transfer."""
        if self.state.transfers:
            self.transfer = Transfer(*self.state.transfers[0])
            self.rows = self.transfer.rows if self.transfer.size else 0
            self.ordered = self.transfer.overlaps

    def advance(self, limit: int) -> Stop | None:
        """One cycle: a write and a read, or the end of the transfer."""
        state, time = self.state, self.time
        buffer = state.buffer
        if self.waiting is not None:  # a window that kept it waiting is tried again
            state.read_free = min(state.read_free, time)
            state.write_free = min(state.write_free, time)
        later: list[Later] = []
        try:
            if buffer and buffer[0][0] <= time and state.write_free <= time and not state.writing:
                try:
                    self._write(time)
                except Later as wait:
                    later.append(wait)
                    state.write_free = NEVER
            if state.read_free <= time and self._can_read():
                try:
                    self._read(time)
                except Later as wait:
                    later.append(wait)
                    state.read_free = NEVER
        except Fault as fault:
            raise self._explained(fault) from None
        if not later:
            self._went_on(time)
        self._plan(time, time + self.divider, later)
        return None

    def _can_read(self) -> bool:
        """Whether there is a beat to read and room for it, whenever the memory is free."""
        state = self.state
        if state.row >= self.rows or state.reading >= 0 or len(state.buffer) >= self.depth:
            return False
        # A row may read what the rows before it wrote: these writes come first.
        return not (self.ordered and state.position == 0 and (state.buffer or state.writing))

    def _read(self, time: int) -> None:
        state, transfer = self.state, self.transfer
        src, dst, length, position = transfer.beat(state.row, state.position, self.width)
        window = self.reader.window(src, length)
        if window is not None:
            length = min(length, window.room(time, src, "read"))
            position = state.position + length
            data, ready = self.reader.pull(window, time, src, length)
            state.buffer.append((ready, dst, data))
            state.read_free = time + 1
        elif src >> REGION_SHIFT == ONCHIP:
            self._check_holder("read", src)
            self._ask(self.reader, time, src, length)
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
        read, dst, data = state.buffer[0]
        window = self.writer.window(dst, len(data))
        if window is not None:
            room = window.room(time, dst, "write")
            self._wrote(len(data[:room]), self.writer.push(window, time, dst, data[:room]))
            state.write_free = time + 1
            if room < len(data):
                state.buffer[0] = (read, dst + room, data[room:])
                return
        if window is None and dst >> REGION_SHIFT == ONCHIP:
            self._check_holder("write", dst)
            self._ask(self.writer, time, dst, len(data), data)
            state.writing = len(data)
        elif window is None:
            self._wrote(len(data), self.writer.write(time, dst, data))
            state.write_free = self._free(time, dst)
        state.buffer.pop(0)

    def _ask(
        self, port: Port, time: int, address: int, length: int, data: bytes | None = None
    ) -> None:
        """Ask for a beat of on-chip memory; `granted` answers."""
        port.beat(time, ((address, length),), data)

    def _free(self, time: int, address: int) -> int:
        """When the next beat may follow one that began at `time`, not in on-chip memory."""
        if address < EXTERNAL:
            return time + 1
        return max(time + 1, self.device.memory.channel.free)

    def _wrote(self, length: int, ready: int) -> None:
        state = self.state
        state.beats += 1
        state.bytes += length
        state.ready = max(state.ready, ready)

    def granted(self, port: Port, data: bytes, time: int, ready: int) -> None:
        """A beat of on-chip memory was read or written."""
        state = self.state
        if port is self.reader:
            state.buffer.append((ready, state.reading, data))
            state.reading = -1
        else:
            self._wrote(state.writing, ready)
            state.writing = 0
        self._plan(time, time + 1)

    def _plan(self, time: int, earliest: int, later: Sequence[Later] = ()) -> None:
        """Set the time of the next act, after what was done in cycle `time`.

        `later` is what kept a side waiting just now.
        """
        state = self.state
        buffer, writing = state.buffer, state.writing
        if state.row >= self.rows and not (buffer or writing or state.reading >= 0):
            if state.ready - 1 <= time:
                self._end(time)
            else:
                self.time = state.ready - 1
            return
        self.time = NEVER  # unless something can be done before the next answer of memory
        if buffer and not writing and state.write_free < NEVER:
            self.time = self.aligned(max(earliest, buffer[0][0], state.write_free))
        if self._can_read() and state.read_free < NEVER:
            self.time = min(self.time, self.aligned(max(earliest, state.read_free)))
        if later:
            self._keep_waiting(time, later)
        elif self.waiting is not None:
            self.time = min(self.time, self.aligned(earliest))  # the window is tried again then

    def _keep_waiting(self, time: int, later: Sequence[Later]) -> None:
        """A window keeps a side waiting: let another transfer go on if nothing else can be done."""
        state = self.state
        if self.time < NEVER or state.writing or state.reading >= 0:
            self._await(time, later, self.time)
            return
        if any(item.ordered for item in later):
            self._await(time, later, NEVER)
            return
        found = self._runnable(time, 1)
        if isinstance(found, int):
            self._went_on(time)
            self._tell()
            first = state.transfers[0]
            held = (state.row, state.position, state.buffer, state.ready, state.number)
            state.held[first[0]] = held
            state.busy += time + 1 - state.began
            state.buffer = []
            self._go_on(found, time + 1)
        else:
            self._await(time, [*later, *found], NEVER)

    def _await(self, time: int, later: Sequence[Later], until: int) -> None:
        """Wait for windows, at most to cycle `until`."""
        cores = 0
        for item in later:
            cores |= item.cores
            until = min(until, self.aligned(item.time) if item.time < NEVER else NEVER)
        on = " and ".join(dict.fromkeys(item.on for item in later))
        since = time if self.waiting is None else self.waiting.since
        self.waiting = Waiting(on, since, cores)
        self.time = until

    def _went_on(self, time: int) -> None:
        if self.waiting is not None:
            self.went_on(time)

    def _runnable(self, time: int, behind: int = 0) -> int | list[Later]:
        """The place of the first transfer that can do something, the first `behind` left out.

        If there is none: what they wait for.
        """
        memory = self.device.memory
        passed = list(self.transfer.windows(memory)) if behind else []
        waits: list[Later] = []
        for place in sorted(range(behind, len(self.state.transfers)), key=self._ticket):
            transfer = Transfer(*self.state.transfers[place])
            windows = transfer.windows(memory)
            if not any(window in passed for window in windows):
                try:
                    for window, what, address in windows.values():
                        window.room(time, address, what)
                except Later as wait:
                    waits.append(wait)
                else:
                    return place
            passed += windows
        return waits

    def _ticket(self, place: int) -> int:
        return int(self.state.transfers[place][0])

    def _go_on(self, place: int, time: int) -> None:
        """Let the transfer at that place of the queue be the running one."""
        transfers = self.state.transfers
        transfers.insert(0, transfers.pop(place))
        self._begin(time)

    def _end(self, time: int) -> None:
        """The running transfer ended in cycle `time`; the next one begins."""
        state = self.state
        state.transfers.pop(0)
        self.retired += 1
        self._tell(time + 1)
        state.busy += time + 1 - state.began
        if self.listeners:
            self.announce("end", ticket=self.transfer.ticket)
        if state.transfers:
            found = self._runnable(time)
            self._go_on(found if isinstance(found, int) else 0, time + 1)
        else:
            self.running = False
            self.time = NEVER
        self.device.changed(self, time)

    def _check_holder(self, what: str, address: int) -> None:
        holder = self.device.memory.holder(address)
        if holder is not None:
            raise Fault(
                "isolation violation",
                f"{what} at {address:#010x}, in the half from which {holder.name} feeds and runs",
                {"at": address, "holder": holder.name},
            )

    def _explained(self, fault: Fault) -> Fault:
        """A fault of the running transfer, with its values and who asked for it."""
        transfer = self.transfer
        values = {**fault.values, **transfer.values()}
        address = None if transfer.address < 0 else transfer.address
        message = f"{fault.message}; {transfer.text()}"
        return Fault(fault.kind, message, values, core=self.name, address=address)

    def remember(self, number: Callable[[], int]) -> Origins:
        """See `Core.remember`."""
        self.origins = Transfers(self, number)
        return self.origins

    # The trace

    def occurred(
        self, what: str, time: int, until: int, count: int = 1, number: int | None = None
    ) -> None:
        """See `Core.occurred`; the block has it when the transfer ends or something else asks."""
        known = self._uses.get(what)
        if known is not None:
            time, count = known[1], known[3] + count
            until = until if until > known[2] else known[2]
        self._uses[what] = what, time, until, count

    def _tell(self, until: int = 0) -> None:
        """Let the block have what the running transfer did; it ends at `until` (0: not yet)."""
        if self.tracing:
            uses = list(self._uses.values())
            self._uses.clear()
            begun, self._begun = self._begun, BEFORE
            self.trace.did(self.state.number, uses, until, begun)

    def _forget_uses(self) -> None:
        self._begun = BEFORE
        self._uses.clear()

    def trace_changed(self) -> None:
        """See `Core.trace_changed`."""
        self._forget_uses()

    @property
    def begun(self) -> int:
        """Transfers that have begun."""
        return self.retired + len(self.state.held) + int(self.running)

    def units(self) -> Units:
        """None: it computes nothing."""
        return Units(0, 0, store=self.width)

    # State

    def sync(self) -> None:
        """See `Core.sync`."""
        self._tell()
        super().sync()

    def counters(self) -> dict[str, int]:
        """See `Core.counters`."""
        state = self.state
        return {
            "transfers": self.retired,
            "beats": state.beats,
            "bytes": state.bytes,
            "cycles_busy": state.busy,
        }

    def reload(self) -> None:
        """See `Core.reload`."""
        super().reload()
        self._forget_uses()
        self._prepare()
