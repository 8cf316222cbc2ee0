"""Ports: the only way from a core to memory during a run. They know time, contention and width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.emu.pages import Sleeper
from macaw.isa.common import TRAFFIC
from macaw.isa.memory_map import REGISTERS, UNITS

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.jitter import Jitter
    from macaw.emu.memory import Memory
    from macaw.emu.pages import Pages
    from macaw.emu.windows import Window

Range = tuple[int, int]  # address, bytes
REGION_SHIFT = 28  # the bits of an address above tell these two regions
ONCHIP = UNITS >> REGION_SHIFT
MAPPED = REGISTERS >> REGION_SHIFT  # registers
COUNTS = tuple(row.name for row in TRAFFIC)


class Port:
    """A core's connection to memory: one request at a time, answered in order.

    A core that reads and writes in one cycle (a row's bus and its return bus)
    takes two. `time` is always the cycle in which the core acts, its own
    `core.time`. Times that come back ("ready") are cycles in which the core may
    go on with the result; they are not aligned to its divider.

    | memory | read is ready | write is ready |
    |---|---|---|
    | on-chip | grant + mem.onchip_latency | grant + 1 |
    | local | time + mem.onchip_latency | time + 1 |
    | external | start + mem.external_latency + beats | the same |
    | a core's own | time + mem.onchip_latency, or what the core says | time + 1, or the same |
    | registers, windows | time + mem.onchip_latency | time + 1 |

    Of on-chip memory the arbiter grants at the end of a cycle at the earliest, which is
    the cycle of the request if no bank is lost. External memory starts when
    its channel is free; an access occupies the channel for its beats, the runs of
    mem.external_width aligned bytes that it touches; its effect on the bytes is at `time`.
    """

    __slots__ = (
        "core",
        "external_blocked",
        "external_partial",
        "external_reads",
        "external_writes",
        "instruction",
        "memory",
        "place",
        "reads",
        "reads_blocked",
        "writes",
        "writes_blocked",
    )

    def __init__(self, memory: Memory, core: Core) -> None:
        self.memory = memory
        self.core = core
        self.place = -1  # in the order of all ports: by core number, then as they were taken
        self.instruction: int | None = None  # whose accesses these are, for the trace
        self.clear()

    def clear(self) -> None:
        """Set all counts to 0."""
        self.reads = self.reads_blocked = self.writes = self.writes_blocked = 0
        self.external_reads = self.external_writes = 0
        self.external_partial = self.external_blocked = 0

    def counts(self) -> dict[str, int]:
        """The port's traffic, by the names of `macaw.isa.common.TRAFFIC`."""
        return {name: getattr(self, name) for name in COUNTS}

    @property
    def busy(self) -> bool:
        """Whether a beat of this port has not been granted yet."""
        return self.memory.banks.pending(self)

    # For cores that work on single values (cp, vc)

    def load(self, time: int, address: int, size: int) -> tuple[int, int] | None:
        """Read `size` (1, 2, 4, 8) bytes as an unsigned number: (value, ready).

        None if the address is on-chip: then a beat was posted, and `core.granted`
        gets the bytes. Raises `Fault`: misaligned or out-of-range access; `Later` if a window
        has fewer bytes.
        """
        self._check_alignment("load", address, size)
        if address >> REGION_SHIFT == ONCHIP:
            self.beat(time, ((address, size),))
            return None
        if address >> REGION_SHIFT == MAPPED:
            value = self.memory.read_register(address, size, time)
            return value, time + self.memory.onchip_latency
        window = self.window(address, size)
        if window is not None:
            window.whole(time, address, size, "load")
            data, ready = self.pull(window, time, address, size)
            return int.from_bytes(data, "little"), ready
        data, ready = self.read(time, address, size, "load")
        return int.from_bytes(data, "little"), ready

    def store(self, time: int, address: int, size: int, value: int) -> int | None:
        """Write the low `size` bytes of `value`: ready, or None as `load`. Raises as `load`."""
        self._check_alignment("store", address, size)
        data = (value & (1 << 8 * size) - 1).to_bytes(size, "little")
        if address >> REGION_SHIFT == ONCHIP:
            self.beat(time, ((address, size),), data)
            return None
        if address >> REGION_SHIFT == MAPPED:
            self.memory.write_register(address, size, value & (1 << 8 * size) - 1, time)
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
        """Request bytes of one half of one on-chip unit; `core.granted` answers.

        Reads all `ranges` in their order, or writes `data` (as long as they are
        together) to them. All banks are taken in the same cycle; where a request needs
        two words of one bank it is cut, in order, into pieces that take a cycle
        each, and answered when the last was granted (the bytes move then).
        The port must be free. Raises `Fault`: out-of-range access.
        """
        self.memory.banks.post(self, time, ranges, data)

    def window(self, address: int, length: int) -> Window | None:
        """The window in which all these bytes lie. Others may act earlier after an access to it."""
        if address >> REGION_SHIFT not in self.memory.windowed:
            return None
        return self.memory.window(address, length)

    def pull(self, window: Window, time: int, address: int, length: int) -> tuple[bytes, int]:
        """Take bytes that the window has (`Window.room`): (bytes, ready)."""
        if self.core.listeners:
            self.core.announce("read", address=address, size=length)
        data = window.core.pull(window.row.name, length, time)
        return data, time + self.memory.onchip_latency

    def push(self, window: Window, time: int, address: int, data: bytes) -> int:
        """Give the window bytes for which it has room (`Window.room`): ready."""
        if self.core.listeners:
            self.core.announce("write", address=address, size=len(data))
        window.core.push(window.row.name, data, time)
        return time + 1

    def read(self, time: int, address: int, length: int, what: str = "read") -> tuple[bytes, int]:
        """Read local, external or a core's memory: (bytes, ready). Raises `Fault`, `Later`."""
        pages, offset = self.memory.locate(address, length, what)
        inside = pages is not self.memory.external
        ready = self._reached(pages, time, offset, length, False) if inside else time
        if self.core.listeners:
            self.core.announce("read", address=address, size=length)
        if inside:
            return pages.read(offset, length), ready
        if self.memory.channel.sleeper is not None:
            self.memory.channel.sleeper.shared(time)
        beats, start, ready = self.memory.channel.take(time, offset, length)
        self.external_reads += beats
        self.external_blocked += start - time
        if beats and self.core.tracing:
            self.core.occurred("external_reads", time, ready, beats, self.instruction)
        if self.core.listeners:
            self._announce("external_reads", time, ready, beats)
        return pages.read(offset, length), ready

    def write(self, time: int, address: int, data: bytes, what: str = "write") -> int:
        """Write local, external or a core's memory: ready. Raises `Fault`, `Later`."""
        length = len(data)
        pages, offset = self.memory.locate(address, length, what)
        inside = pages is not self.memory.external
        ready = self._reached(pages, time, offset, length, True) if inside else time
        if self.core.listeners:
            self.core.announce("write", address=address, size=length)
        if not inside and self.memory.channel.sleeper is not None:
            self.memory.channel.sleeper.shared(time)
        pages.write(offset, data)
        if inside:
            return ready
        beats, start, ready = self.memory.channel.take(time, offset, length)
        partial = self.memory.channel.partial(offset, length)
        self.external_writes += beats
        self.external_partial += partial
        self.external_blocked += start - time
        if beats and self.core.tracing:
            self.core.occurred("external_writes", time, ready, beats, self.instruction)
            if partial:
                self.core.occurred("external_partial", time, ready, partial, self.instruction)
        if self.core.listeners:
            self._announce("external_writes", time, ready, beats)
            self._announce("external_partial", time, ready, partial)
        return ready

    def _announce(self, of: str, begin: int, until: int, count: int) -> None:
        """Announce traffic of external memory, by its name in `macaw.isa.common.TRAFFIC`."""
        if count:
            self.core.announce("beats", of=of, begin=begin, until=until, count=count)

    def _reached(self, pages: Pages, time: int, offset: int, length: int, writes: bool) -> int:
        """When an access to local or a core's own memory is ready. Raises `Later`."""
        ready = time + (1 if writes else self.memory.onchip_latency)
        keeper = self.memory.keepers.get(pages)
        if keeper is None or keeper[0] is self.core:
            return ready
        core, name = keeper
        return core.reached(name, time, offset, length, writes, ready)


class Channel:
    """The one channel of external memory; requests are served as they come, in time order.

    A strided access comes as a whole: its later lanes are taken before what others ask meanwhile.
    """

    def __init__(self, latency: int, width: int) -> None:
        self.latency = latency  # cycles
        self.width = width  # bytes of a beat
        self.free = 0  # the first cycle that nobody has taken
        self.sleeper: Sleeper | None = None  # who takes it without being asked each time
        self.jitter: Jitter | None = None  # when others have the memory

    def take(self, time: int, offset: int, length: int) -> tuple[int, int, int]:
        """Take the channel for an access at cycle `time`: (beats, start, ready).

        `ready` is start + latency + beats.
        """
        beats = (offset + length - 1) // self.width - offset // self.width + 1 if length else 0
        start = self.free if self.free > time else time
        self.free = start + beats
        return beats, start, start + self.latency + beats

    def partial(self, offset: int, length: int) -> int:
        """Beats of an access that do not fill the width."""
        if not length:
            return 0
        end = offset + length
        first, last = offset // self.width, (end - 1) // self.width
        if first == last:
            return int(length < self.width)
        return int(offset % self.width > 0) + int(end % self.width > 0)
