"""Finds, for meters, to which memory, activity, tensor and bank an access belongs."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from macaw.emu.address_space import MAPPED, ONCHIP, REGION_SHIFT
from macaw.emu.device import Device
from macaw.emu.rules.transfers import channel_beats
from macaw.isa.activities import sram
from macaw.isa.memory_map import EXTERNAL, HALF_SHIFT, UNITS
from macaw.isa.typed_records import NamedTuple

LOCAL, CHIP, OUTSIDE = "local", "on-chip", "external"
_LABEL_SHIFT = 5  # a label is for 32 bytes, as many as a beat of the preset devices


class Moved(NamedTuple):
    """The bytes of an access: the kind of memory, the activity to count, the number of bytes."""

    memory: str  # as in `macaw.emu.meter.Count`
    activity: str  # a name in `macaw.isa.activities.ACTIVITIES`
    size: int  # bytes


class MeteredMemory:
    """The memories of a device, as its meters see them. All meters of a device share one object.

    The object also counts how often each bank of each on-chip unit served a word. For the bytes of
    on-chip memory it records the tensor from which the dma copied them.
    """

    def __init__(self, device: Device) -> None:
        self.device, config = device, device.config
        self.width = int(config["mem.external_width"])
        banks, self.bank_width = int(config["mem.banks"]), int(config["mem.bank_width"])
        self.onchip = sram(-(-int(config["mem.unit_half_bytes"]) // banks))
        self.local = sram(int(config["mem.local_bytes"]))
        units = len(device.memory.users)
        self.words: NDArray[np.int64] = np.zeros((units, 2, banks), np.int64)  # unit, half, bank
        self.unit_bytes: NDArray[np.int64] = np.zeros((units, 2), np.int64)  # unit; read, written
        tensors = () if device.program is None else device.program.tensors
        self._tensors = sorted((item for item in tensors if item.size), key=lambda x: x.address)
        self._starts = [item.address for item in self._tensors]
        self._symbols: dict[int, str] = {}  # the results of `_symbol`
        self._labels: dict[int, str] = {}  # of on-chip memory, by address >> _LABEL_SHIFT

    def access(self, address: int, size: int, writes: bool) -> Moved | None:
        """Return the bytes that an access of a port moves; count its words in on-chip banks.

        The access is to `size` bytes at `address`; `writes` says whether it writes. External memory
        moves whole beats, so its result may have more than `size` bytes. The result is None for a
        register, a window, or an access of 0 bytes.
        """
        region = address >> REGION_SHIFT
        if not size or region == MAPPED:
            return None
        if address >= EXTERNAL:
            beats = channel_beats(address - EXTERNAL, size, self.width)
            return Moved(OUTSIDE, "dram", beats * self.width)
        if region == ONCHIP:
            self._count_words(address, size, writes)
            return Moved(CHIP, self.onchip, size)
        if address < self.device.memory.local_bytes:
            return Moved(LOCAL, self.local, size)
        own = self.device.memory.region(address)
        if own is None or own.pages is None:
            return None
        core, row = self.device.memory.keepers[own.pages]
        holds_program = any(x.name == row and x.instructions for x in core.table.memories)
        if own.pages in self.device.memory.guards and not holds_program:
            return Moved(own.name, "dram", size)  # the circuits of an island are beside its DRAM
        return Moved(own.name, sram(own.pages.size), size)

    def _count_words(self, address: int, size: int, writes: bool) -> None:
        half, offset = address - UNITS >> HALF_SHIFT, address & (1 << HALF_SHIFT) - 1
        unit, ping = divmod(half, 2)
        first, last = offset // self.bank_width, (offset + size - 1) // self.bank_width
        places = np.arange(first, last + 1) % self.words.shape[2]
        np.add.at(self.words[unit, ping], places, 1)
        self.unit_bytes[unit, int(writes)] += size

    # Tensors

    def tensor(self, address: int) -> str:
        """Return the name of the tensor that contains the byte at `address`.

        A byte of on-chip memory has the name of the data from which the dma copied it. Any other
        byte outside of all tensors has the name of the last symbol before that byte. The result is
        "" if there is no such name.
        """
        place = bisect_right(self._starts, address) - 1
        if place >= 0:
            item = self._tensors[place]
            if address < item.address + item.size:
                return item.name
        if address >> REGION_SHIFT == ONCHIP:
            return self._labels.get(address >> _LABEL_SHIFT, "")
        if address not in self._symbols:
            self._symbols[address] = self._symbol(address)
        return self._symbols[address]

    def _symbol(self, address: int) -> str:
        """Return the name of the symbol before an address; "" if there is none.

        A program may copy a section from the address at which it is loaded to the address for which
        it is assembled. Then an address in the loaded bytes gets the symbol at the same offset in
        the copy.
        """
        program = self.device.program
        if program is None:
            return ""
        match = program.symbol_at(address)
        for section in program.sections if match is None else ():
            offset = address - section.load_address
            if 0 <= offset < section.size:
                match = program.symbol_at(section.address + offset)
        return "" if match is None else match[0].name

    def label(self, address: int, size: int, tensor: str) -> None:
        """Record that the dma copied `size` bytes of `tensor` to the on-chip `address`.

        An empty name means data that belong to no tensor. For an address outside of on-chip memory
        the method does nothing.
        """
        if address >> REGION_SHIFT != ONCHIP:
            return
        for block in range(address >> _LABEL_SHIFT, (address + size - 1 >> _LABEL_SHIFT) + 1):
            if tensor:
                self._labels[block] = tensor
            else:
                self._labels.pop(block, None)

    def by_tensor(self, addresses: NDArray[np.int64], sizes: NDArray[np.int64]) -> dict[str, int]:
        """Return the sum of the `sizes` of accesses for each tensor, by the tensor's name.

        `addresses` has the address of each access. Both arrays have shape (accesses,).
        """
        places, index = np.unique(addresses, return_inverse=True)
        sums = np.bincount(index.ravel(), sizes.ravel(), places.size)
        found: dict[str, int] = {}
        for address, total in zip(places.tolist(), sums.tolist(), strict=True):
            tensor = self.tensor(address)
            found[tensor] = found.get(tensor, 0) + int(total)
        return found
