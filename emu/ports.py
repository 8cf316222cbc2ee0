"""Ports: the only way by which a core accesses memory during a run, with time and contention."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.address_space import MAPPED, ONCHIP, REGION_SHIFT, AddressSpace, Guarded
from macaw.emu.banks import Banks, Range
from macaw.emu.channel import Channel
from macaw.emu.endpoints import Endpoint, Requester
from macaw.emu.faults import Fault
from macaw.emu.pages import Pages
from macaw.emu.registers import MappedRegisters
from macaw.emu.windows import Window


class MemorySystem(AddressSpace):
    """The memories that ports use, and the circuits that decide when an access is ready."""

    banks: Banks
    channel: Channel
    registers: MappedRegisters
    onchip_latency: int  # cycles from the grant to the data


class Port(Endpoint):
    """A core's connection to memory, which has at most one open request.

    A core that reads and writes in the same cycle has two ports (a row: one for its bus and one for
    its return bus). The argument `time` is always the cycle in which the core acts, `core.time`.
    Results named `ready` are the first cycle in which the core may use the result. These cycles are
    not aligned to the core's divider.

    | memory | read is ready | write is ready |
    |---|---|---|
    | on-chip | grant + mem.onchip_latency | grant + 1 |
    | local | time + mem.onchip_latency | time + 1 |
    | external | start + mem.external_latency + beats | the same |
    | a core's own | time + mem.onchip_latency, or as it decides | time + 1, or as it decides |
    | registers, windows | time + mem.onchip_latency | time + 1 |

    The arbiter grants a request for on-chip memory at the end of the cycle of the request. If
    another request has one of the banks, the grant comes in a later cycle. An access to external
    memory starts when the channel is free. It occupies the channel for its beats: the number of
    aligned blocks of mem.external_width bytes that it touches. Its bytes are read or changed in
    cycle `time`, even if the access starts later.
    """

    __slots__ = ("memory",)

    def __init__(self, memory: MemorySystem, core: Requester) -> None:
        super().__init__(core)
        self.memory = memory

    @property
    def busy(self) -> bool:
        """Whether this port has requested a beat that is not granted yet."""
        return self.memory.banks.pending(self)

    # For cores that work on single values (cp, vc)

    def load(self, time: int, address: int, size: int) -> tuple[int, int] | None:
        """Read `size` bytes, a power of two, at `address` as an unsigned number.

        Return (value, ready). For an on-chip address the method only requests a beat and returns
        None; later `core.granted` gets the bytes. Raises `Fault` (misaligned or out-of-range
        access), and `WindowNotReady` if a window has fewer bytes or another core's memory cannot be
        accessed yet.
        """
        self._check_alignment("load", address, size)
        if address >> REGION_SHIFT == ONCHIP:
            self.beat(time, ((address, size),))
            return None
        if address >> REGION_SHIFT == MAPPED:
            value = self.memory.registers.read(address, size, time)
            return value, time + self.memory.onchip_latency
        window = self.window(address, size)
        if window is not None:
            window.whole(time, address, size, "load")
            data, ready = self.pull(window, time, address, size)
            return int.from_bytes(data, "little"), ready
        data, ready = self.read(time, address, size, "load")
        return int.from_bytes(data, "little"), ready

    def store(self, time: int, address: int, size: int, value: int) -> int | None:
        """Write the low `size` bytes of `value` to `address`; return the cycle of the effect.

        For an on-chip address the method only requests a beat and returns None. Raises `Fault`
        (misaligned or out-of-range access), and `WindowNotReady` if a window has less room than
        `size` bytes or another core's memory cannot be accessed yet.
        """
        self._check_alignment("store", address, size)
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        if address >> REGION_SHIFT == ONCHIP:
            self.beat(time, ((address, size),), data)
            return None
        if address >> REGION_SHIFT == MAPPED:
            self.memory.registers.write(address, size, value & (1 << 8 * size) - 1, time)
            return time + 1
        window = self.window(address, size)
        if window is not None:
            window.whole(time, address, size, "store")
            return self.push(window, time, address, data)
        return self.write(time, address, data, "store")

    def _check_alignment(self, what: str, address: int, size: int) -> None:
        if address % size:
            raise Fault(
                "misaligned access",
                f"{what} of {size} bytes at {address:#010x}, which is no multiple of {size}",
                {"address": address, "size": size},
            )

    # For cores that move many bytes

    def beat(self, time: int, ranges: Sequence[Range], data: bytes | None = None) -> None:
        """Request a read or write of bytes in one half of one on-chip unit.

        Without `data` the request reads all `ranges` (address, bytes) in their order. With `data`
        it writes these ranges; the sum of their lengths must be the length of `data`. The request
        uses all its banks in the same cycle. But if it needs two words of one bank, it is split, in
        order, into pieces of one cycle each. The bytes move when the last piece is granted, and the
        core then gets the answer by its `granted`. The port must not be busy. Raises `Fault`
        (out-of-range access).
        """
        self.memory.banks.post(self, time, ranges, data)

    def window(self, address: int, length: int) -> Window | None:
        """Return the window that contains all `length` bytes at `address`; None if none does.

        After an access to a window the core must return from `advance`, because another core may
        act earlier than planned.
        """
        if address >> REGION_SHIFT not in self.memory.windowed:
            return None
        return self.memory.window(address, length)

    def pull(self, window: Window, time: int, address: int, length: int) -> tuple[bytes, int]:
        """Read `length` bytes at `address` of a window that has at least as many (`Window.room`).

        The access is in cycle `time`. Return the bytes, and the cycle in which they are ready.
        """
        if self.core.listeners:
            self.core.announce("read", address=address, size=length)
        data = window.core.pull(window.row.name, length, time)
        return data, time + self.memory.onchip_latency

    def push(self, window: Window, time: int, address: int, data: bytes) -> int:
        """Write bytes to `address` of a window that has room for them (`Window.room`).

        The access is in cycle `time`. Return the cycle in which the write is ready.
        """
        if self.core.listeners:
            self.core.announce("write", address=address, size=len(data))
        window.core.push(window.row.name, data, time)
        return time + 1

    def admit(self, ranges: Sequence[Range], what: str) -> None:
        """Raise `WindowNotReady` unless all `ranges` (address, bytes) of memory are accessible now.

        A caller that reads or writes several ranges for one instruction calls this method first.
        Otherwise a later range could refuse, and the next attempt would access the earlier ranges
        again. Raises `Fault`, with a message that begins with `what`, if no memory has a range.
        """
        for address, length in ranges:
            pages, offset = self.memory.locate(address, length, what)
            guard = self._guard(pages)
            if guard is not None:
                guard[0].admit(guard[1], offset, length)

    def read(self, time: int, address: int, length: int, what: str = "read") -> tuple[bytes, int]:
        """Read `length` bytes at `address` of local or external memory, or of a core's own memory.

        Return the bytes, and the cycle in which they are ready. Raises `Fault`, with a message that
        begins with `what`, if no memory has all bytes, and `WindowNotReady` if another core's
        memory cannot be accessed yet.
        """
        pages, offset = self.memory.locate(address, length, what)
        inside = pages is not self.memory.external
        ready = self._ready_inside(pages, time, offset, length, False) if inside else time
        if self.core.listeners:
            self.core.announce("read", address=address, size=length)
        if inside:
            return pages.read(offset, length), ready
        if self.memory.channel.sleeper is not None:
            self.memory.channel.sleeper.note_use(time)
        beats, start, ready = self.memory.channel.take(time, offset, length)
        self.external_reads += beats
        self.external_blocked += start - time
        if beats and self.core.tracing:
            self.core.count_occurrence("external_reads", time, ready, beats, self.instruction)
        if self.core.listeners:
            self._announce("external_reads", time, ready, beats)
        return pages.read(offset, length), ready

    def write(self, time: int, address: int, data: bytes, what: str = "write") -> int:
        """Write bytes to `address` of local or external memory, or of a core's own memory.

        Return the cycle in which the write is ready. Raises `Fault`, with a message that begins
        with `what`, if no memory has all bytes, and `WindowNotReady` if another core's memory
        cannot be accessed yet.
        """
        length = len(data)
        pages, offset = self.memory.locate(address, length, what)
        inside = pages is not self.memory.external
        ready = self._ready_inside(pages, time, offset, length, True) if inside else time
        if self.core.listeners:
            self.core.announce("write", address=address, size=length)
        if not inside and self.memory.channel.sleeper is not None:
            self.memory.channel.sleeper.note_use(time)
        pages.write(offset, data)
        if inside:
            return ready
        beats, start, ready = self.memory.channel.take(time, offset, length)
        partial = self.memory.channel.partial(offset, length)
        self.external_writes += beats
        self.external_partial += partial
        self.external_blocked += start - time
        if beats and self.core.tracing:
            self.core.count_occurrence("external_writes", time, ready, beats, self.instruction)
            if partial:
                self.core.count_occurrence(
                    "external_partial", time, ready, partial, self.instruction
                )
        if self.core.listeners:
            self._announce("external_writes", time, ready, beats)
            self._announce("external_partial", time, ready, partial)
        return ready

    def _announce(self, of: str, begin: int, until: int, count: int) -> None:
        """Announce `count` beats of external memory in the cycles `begin` to `until` - 1.

        `of` is the name of the beats in `macaw.isa.common.TRAFFIC`.
        """
        if count:
            self.core.announce("beats", of=of, begin=begin, until=until, count=count)

    def _ready_inside(self, pages: Pages, time: int, offset: int, length: int, writes: bool) -> int:
        """Return the cycle in which an access to local memory or a core's own memory is ready.

        The access is to `length` bytes at `offset` in `pages`, in cycle `time`; `writes` says
        whether it writes. Raises `WindowNotReady`.
        """
        ready = time + (1 if writes else self.memory.onchip_latency)
        guard = self._guard(pages)
        if guard is None:
            return ready
        core, name = guard
        return core.reached(name, time, offset, length, writes, ready)

    def _guard(self, pages: Pages) -> tuple[Guarded, str] | None:
        """Return the core that guards the memory `pages` from this port, and the memory's name.

        The result is None if no core guards `pages`, or if this port is a port of that core.
        """
        guard = self.memory.guards.get(pages)
        return None if guard is None or guard[0].number == self.core.number else guard
