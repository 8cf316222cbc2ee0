"""The memory map: it finds the memory, window or on-chip unit to which an address belongs.

| from | what |
|---|---|
| `0x0000_0000` | local memory of cp |
| `0x1000_0000 + unit<<20 + half<<19` | on-chip unit, half 0 (ping) or 1 (pong) |
| `0x2000_0000 + core<<12` | registers of each core (`macaw.isa.common.REGISTERS`) |
| where a core's table says | its own memories (`macaw.isa.model.Memory`) and windows (`Window`) |
| `0x8000_0000` | external memory |

An access to any other address raises the fault "out-of-range access".
"""

from __future__ import annotations

from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from macaw.emu.agents import Agent
from macaw.emu.core_set import CoreSet
from macaw.emu.faults import Fault, amount
from macaw.emu.pages import Pages
from macaw.emu.windows import Window, Windowed
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, LOCAL, REGISTERS, UNIT_SHIFT, UNITS
from macaw.isa.typed_records import NamedTuple

REGION_SHIFT = 28  # an address shifted right by this is the number of its region, of 256 MiB
ONCHIP = UNITS >> REGION_SHIFT
MAPPED = REGISTERS >> REGION_SHIFT  # the region of the memory-mapped registers
# the regions in which memories and windows of cores may be
_OWN = frozenset(range(MAPPED + 1, EXTERNAL >> REGION_SHIFT))


class Guarded(Agent):
    """A core that sets the timing of other cores' accesses to its own memory."""

    @abstractmethod
    def admit(self, memory: str, offset: int, length: int) -> None:
        """Raise `WindowNotReady` if another core has to wait before it may access `memory`.

        The access is to `length` bytes at `offset` of this memory, which belongs to this core.
        """

    @abstractmethod
    def reached(
        self, memory: str, time: int, offset: int, length: int, writes: bool, ready: int
    ) -> int:
        """Return the cycle in which another core's access to this core's memory `memory` is ready.

        The other core accesses `length` bytes at `offset` in cycle `time`; `writes` says whether it
        writes. `ready` is the cycle in which an access to ordinary memory would be ready. Raises
        `WindowNotReady` if the other core has to wait.
        """


class Region(NamedTuple):
    """The address range of one memory or window that belongs to a core."""

    start: int
    end: int
    name: str  # for messages, such as `instructions of nnp`
    pages: Pages | None  # the bytes of a memory; None for a window
    window: Window | None = None


class AddressSpace:
    """The memory map of one device: it finds the memory or window that contains an address.

    Each on-chip unit has two halves: one of them feeds a row of the array of PEs, while the dma
    fills the other one. `feeding[unit]` is the half (0 or 1) that feeds the row. After reset this
    is half 1, so a program fills half 0 first.
    """

    local: Pages
    external: Pages
    core_set: CoreSet[Any]  # of the device

    def __init__(self, local_bytes: int, external_bytes: int, half_bytes: int) -> None:
        self.local_bytes = local_bytes
        self.external_bytes = external_bytes
        self.half_bytes = half_bytes
        self.users: list[Agent] = []  # by unit number: the core that the unit feeds
        self.feeding: list[int] = []
        self.halves: list[Pages] = []  # ping of unit 0, pong of unit 0, ping of unit 1, ...
        self.own: dict[tuple[int, str], Pages] = {}  # by core number and name of the table's row
        # the owner and name of each memory in `own`
        self.keepers: dict[Pages, tuple[Agent, str]] = {}
        # the memories in `own` whose owner is a `Guarded` core
        self.guards: dict[Pages, tuple[Guarded, str]] = {}
        self.regions: list[Region] = []  # own memories and windows, by address
        self.starts: list[int] = []
        # The numbers of the regions (`REGION_SHIFT`) that contain windows. While the device has yet
        # to make cores, these are all regions that may have windows.
        self.windowed = _OWN

    def add_unit(self, number: int, user: Agent) -> None:
        """Add the on-chip unit `number`, which feeds the core `user`.

        The caller adds units in ascending order from 0, without gaps. Raises `ValueError`
        otherwise.
        """
        if number != len(self.users):
            raise ValueError(f"unit {number} comes after {len(self.users)} units")
        self.users.append(user)

    def map_own(self, agents: Iterable[Agent]) -> None:
        """Add the memories and windows that belong to the cores `agents` to the memory map.

        The caller has already put the bytes of these memories into `self.own`. Raises `ValueError`
        if two address ranges overlap, and `TypeError` if a core has a window but is not `Windowed`.
        """
        for core in agents:
            instance = core.number - core.table.number
            for row in core.table.memories:
                pages = self.own[core.number, row.name]
                self.keepers[pages] = core, row.name
                if isinstance(core, Guarded):
                    self.guards[pages] = core, row.name
                start, name = row.start(instance), f"{row.name} of {core.name}"
                self.regions.append(Region(start, start + pages.size, name, pages))
            for item in core.table.windows:
                if not isinstance(core, Windowed):
                    raise TypeError(f"{core.name} has the window {item.name} but is not Windowed")
                window = Window(item, core)
                self.regions.append(Region(window.start, window.end, window.name, None, window))
        self.regions.sort(key=lambda region: region.start)
        for one, other in pairwise(self.regions):
            if other.start < one.end:
                raise ValueError(f"{one.name} and {other.name} overlap in the memory map")
        self.starts = [region.start for region in self.regions]
        if self.core_set.is_complete:
            windows = (region for region in self.regions if region.window is not None)
            self.windowed = frozenset(region.start >> REGION_SHIFT for region in windows)

    def locate(self, address: int, length: int, what: str = "access") -> tuple[Pages, int]:
        """Return the memory that contains the `length` bytes at `address`, and their offset in it.

        Registers and windows do not count as memory. Raises `Fault` (out-of-range access) unless
        one memory contains all bytes. The fault's message begins with `what`.
        """
        if address >= EXTERNAL:
            offset = address - EXTERNAL
            if offset + length <= self.external_bytes:
                return self.external, offset
        elif address >= 0 and address + length <= self.local_bytes:
            return self.local, address
        elif address >> REGION_SHIFT == ONCHIP:
            index = address - UNITS >> HALF_SHIFT
            offset = address & (1 << HALF_SHIFT) - 1
            if index < len(self.halves) and offset + length <= self.half_bytes:
                return self.halves[index], offset
        else:
            region = self.region(address)
            if region is not None and region.pages and address + length <= region.end:
                return region.pages, address - region.start
        raise self._outside(address, length, what)

    def region(self, address: int) -> Region | None:
        """Return the memory or window of a core that contains an address; None if none does.

        Some cores of the device are made only when they are first used. This method makes all of
        them, because only the table of a core has the addresses of its memories and windows.
        """
        if not self.core_set.is_complete:
            self.core_set.all()
        place = bisect_right(self.starts, address) - 1
        if place < 0 or address >= self.regions[place].end:
            return None
        return self.regions[place]

    def window(self, address: int, length: int) -> Window | None:
        """Return the window that contains all `length` bytes at `address`; None if none does."""
        region = self.region(address)
        return None if region is None or address + length > region.end else region.window

    def extent(self, address: int, length: int, what: str) -> tuple[int, int]:
        """Return the offset of `address` in its region, and the size of this region.

        A region is a memory or window; both results are in bytes. Raises the faults of `locate`,
        with messages that begin with `what`, if no memory or window contains all `length` bytes.
        """
        if address >> REGION_SHIFT in self.windowed:
            window = self.window(address, length)
            if window is not None:
                return address - window.start, window.end - window.start
        pages, offset = self.locate(address, length, what)
        return offset, pages.size

    def address_in(self, pages: Pages, offset: int) -> int:
        """Return the address of the byte at `offset` in the memory `pages`."""
        if pages in self.halves:
            return UNITS + (self.halves.index(pages) << HALF_SHIFT) + offset
        if pages in self.keepers:
            core, name = self.keepers[pages]
            row = next(row for row in core.table.memories if row.name == name)
            return row.start(core.number - core.table.number) + offset
        return (LOCAL if pages is self.local else EXTERNAL) + offset

    def locate_half(self, address: int, length: int, what: str = "access") -> tuple[int, int]:
        """Return the index of the on-chip half with `length` bytes at `address`, and their offset.

        The index of a half is 2 * unit + half; the offset is the bytes' offset in the half. Raises
        `Fault` (out-of-range access) unless one half contains all bytes. The fault's message begins
        with `what`.
        """
        index = address - UNITS >> HALF_SHIFT
        offset = address & (1 << HALF_SHIFT) - 1
        if 0 <= index < len(self.halves) and offset + length <= self.half_bytes:
            return index, offset
        raise self._outside(address, length, what)

    def _outside(self, address: int, length: int, what: str) -> Fault:
        return Fault(
            "out-of-range access",
            f"{what} of {amount(length, 'byte')} at {address:#010x}: {self.describe(address)}",
            {"address": address, "size": length},
        )

    def describe(self, address: int) -> str:
        """Return a phrase for fault messages that says which memory is at or near an address."""
        if address >= EXTERNAL:
            end = EXTERNAL + self.external_bytes
            return f"external memory is {EXTERNAL:#010x} to {end - 1:#010x}"
        if address >> REGION_SHIFT == LOCAL:
            return f"local memory is {LOCAL:#010x} to {self.local_bytes - 1:#010x}"
        if address >> REGION_SHIFT == ONCHIP:
            unit, half = address - UNITS >> UNIT_SHIFT, address >> HALF_SHIFT & 1
            if unit >= len(self.users):
                return f"there is no on-chip unit {unit}, {self._units()}"
            start = self.half_address(2 * unit + half)
            end = start + self.half_bytes - 1
            return f"half {half} of unit {unit} is {start:#010x} to {end:#010x}"
        if address >> REGION_SHIFT == MAPPED:
            return "registers of the cores are there, no memory"
        self.core_set.all()
        region = (
            self.regions[max(0, bisect_right(self.starts, address) - 1)] if self.regions else None
        )
        if region is not None and region.start >> REGION_SHIFT == address >> REGION_SHIFT:
            text = f"{region.name} is {region.start:#010x} to {region.end - 1:#010x}"
            return f"{text}, a window" if region.window is not None else text
        return "the device has no memory there"

    def _units(self) -> str:
        count = len(self.users)
        return "the device has none" if not count else f"units are 0 to {count - 1}"

    def half_address(self, index: int) -> int:
        """Return the first address of the half with the index `index`, which is 2 * unit + half."""
        return UNITS + (index << HALF_SHIFT)

    def feeding_address(self, unit: int) -> int:
        """Return the first address of the half of `unit` that feeds the array."""
        return self.half_address(2 * unit + self.feeding[unit])

    def holder(self, address: int) -> Agent | None:
        """Return the running core that the half at this address feeds; None if there is none."""
        index = address - UNITS >> HALF_SHIFT
        if not 0 <= index < len(self.halves) or self.feeding[index >> 1] != index & 1:
            return None
        user = self.users[index >> 1]
        return user if user.running else None
