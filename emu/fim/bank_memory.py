"""The bytes of an island's banks, and the addresses of their columns."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.emu.address_space import AddressSpace
from macaw.emu.pages import Pages
from macaw.isa import memory_map
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import COLUMN_BYTES, COLUMNS
from macaw.isa.fim_islands import Geometry, Place, island_address

_MEMORY = CORE.memories[1]


class BankMemory:
    """The bytes of all banks of an island.

    A pointer is the number of a column, counted from the first column of island 0 through all
    islands. While `journal` is a list, each write adds an item to this list: the offset of the
    write, and the bytes that were there before.
    """

    def __init__(self, island: int, geometry: Geometry, memory: AddressSpace) -> None:
        self.geometry, self.memory = geometry, memory
        self.key = CORE.number + island, _MEMORY.name
        self.start = island_address(island)
        self.first_column = (self.start - memory_map.ISLANDS) // COLUMN_BYTES
        self.columns = geometry.size // COLUMN_BYTES
        self.journal: list[tuple[int, bytes]] | None = None

    @property
    def pages(self) -> Pages:
        """The bytes of the banks, one bank after another."""
        return self.memory.own[self.key]

    @cached_property
    def cells(self) -> NDArray[np.uint8]:
        """The bytes of the banks as a read-only array of shape (banks, rows, columns, bytes)."""
        shape = (self.geometry.banks, self.geometry.rows, COLUMNS, COLUMN_BYTES)
        return np.frombuffer(self.pages.bytes, np.uint8).reshape(shape)

    def address(self, column: int) -> int:
        """Return the address of the column with the number `column` (a pointer)."""
        return memory_map.ISLANDS + column * COLUMN_BYTES

    def offset(self, column: int) -> int:
        """Return the offset of a column (a pointer) in bytes from the start of the banks."""
        return (column - self.first_column) * COLUMN_BYTES

    def column_at(self, bank: int, row: int, column: int) -> int:
        """Return the pointer of a column, given by its bank, its row, and its number in the row."""
        return self.first_column + self.geometry.offset(Place(bank, row, column)) // COLUMN_BYTES

    def write(self, offset: int, data: bytes) -> None:
        """Write bytes at `offset`, which counts bytes from the start of the banks."""
        pages = self.pages
        if self.journal is not None:
            self.journal.append((offset, pages.read(offset, len(data))))
        pages.write(offset, data)

    def undo(self) -> None:
        """Undo the writes that the journal has recorded, the latest first."""
        for offset, data in reversed(self.journal or []):
            self.pages.write(offset, data)
