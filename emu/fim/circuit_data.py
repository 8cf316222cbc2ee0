"""Moves and computes the data of an island's circuits.

Nothing here depends on time. `operations` decides when a word acts, and calls these functions.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.fim import integers
from macaw.emu.fim.arithmetic import Mode, accumulate, results
from macaw.emu.fim.bank_memory import BankMemory
from macaw.emu.fim.overflows import LIMITED, Overflows, count_overflows, count_wraps
from macaw.emu.fim.state import Block, IslandState
from macaw.emu.floats import Host, all_finite
from macaw.isa.fim_circuit import DOT, GIO, IOSA, OUTER, ROP, RZ, Operation
from macaw.isa.fim_islands import Place
from macaw.isa.typed_records import NamedTuple

Bytes = NDArray[np.uint8]


class Repeats(NamedTuple):
    """Repeats of an operation in the same mode.

    `columns` has the column of the open row that each repeat uses, `slots` the value of RZ_SLOT in
    each repeat. `address` is the address of the word, `shift` the value of the register rz_shift.
    """

    operation: Operation
    mode: Mode
    columns: NDArray[np.int64]
    slots: Sequence[int]
    address: int
    shift: int = 0


class CircuitData:
    """Executes each operation at once, on the registers and sense amplifiers of an island."""

    def __init__(self, state: IslandState, memory: BankMemory, overflows: Overflows) -> None:
        self.state, self.memory, self.overflows = state, memory, overflows

    def load_rows(self, block: Block, banks: list[int], row: int) -> None:
        """Copy row `row` of some banks of a block into the sense amplifiers of these banks."""
        self.state.iosa[banks] = self.memory.cells[banks, row]

    def operate(self, block: Block, repeats: Repeats) -> None:
        """Execute repeats of an operation, one after another, in all banks of a block."""
        operation, columns, slots = repeats.operation, repeats.columns, repeats.slots
        state, places = self.state, block.places
        registers = {ROP: state.rop, GIO: state.gio}
        if operation.computes:
            self._compute(places, repeats)
        elif operation.to == IOSA:
            for column, slot in zip(columns.tolist(), slots, strict=True):
                source = registers.get(operation.left)
                data = self._moved(places, slot, repeats) if source is None else source[places]
                self._write_column(block, column, data)
        elif operation.left == IOSA:
            registers[operation.to][places] = state.iosa[places, columns[-1]]
        elif operation.left == RZ:
            # In int8 each repeat counts the numbers that it limits.
            for slot in slots if repeats.mode.numbers.is_integer else slots[-1:]:
                registers[operation.to][places] = self._moved(places, slot, repeats)
        else:
            registers[operation.to][places] = registers[operation.left][places]

    def leaving(
        self, places: NDArray[np.intp], slot: int, mode: Mode, shift: int, address: int
    ) -> Bytes:
        """Return the bytes that the word at `address` moves out of slice `slot` of Rz.

        They have shape (banks, 32); `places` are the indices of the banks. In int8 the sums of the
        slice become numbers of int8: they are shifted by `shift`, the value of the register
        rz_shift. Those outside the range of int8 are limited to it, and the method counts them in
        `overflows`.
        """
        size = mode.numbers.slice_bytes
        data: Bytes = self.state.rz[places, slot * size : (slot + 1) * size]
        if mode.numbers.is_integer:
            data, limited = integers.leaving(data, shift)
            self.overflows.add(address, LIMITED, places, limited)
        return data

    def _moved(self, places: NDArray[np.intp], slot: int, repeats: Repeats) -> Bytes:
        return self.leaving(places, slot, repeats.mode, repeats.shift, repeats.address)

    def settle(self) -> None:
        """Execute all deferred operations. This class defers none."""

    def _write_column(self, block: Block, column: int, data: Bytes) -> None:
        """Write column `column` of the open row in each bank of a block.

        The bytes go to the sense amplifiers and to memory. `data` has shape (banks, 32).
        """
        self.state.iosa[block.places, column] = data
        for bank, row in zip(block.banks, data, strict=True):
            offset = self.memory.geometry.offset(Place(bank, block.row, column))
            self.memory.write(offset, row.tobytes())

    def _compute(self, places: NDArray[np.intp], repeats: Repeats) -> None:
        operation, mode, columns, slots, address, _ = repeats
        state = self.state

        def operand(name: str) -> Bytes:
            if name == IOSA:
                cells: Bytes = state.iosa[places[:, None], columns[None, :]]
                return cells
            register: Bytes = (state.rop if name == ROP else state.gio)[places]
            return register[:, None, :]

        left, right = operand(operation.left), operand(operation.right)
        new = results(mode, left, right)
        new = np.broadcast_to(new, (new.shape[0], len(columns), new.shape[2]))
        self.fill_rz(places, slots, new, mode, left, right, address)

    def fill_rz(
        self,
        places: NDArray[np.intp],
        slots: Sequence[int],
        new: Host,
        mode: Mode,
        left: Bytes,
        right: Bytes,
        address: int,
    ) -> None:
        """Write the results of the word at `address` to Rz; record their overflows.

        `left` and `right` are the operands, of shape (banks, repeats, 32). `fill` writes the
        results, and explains the other arguments.
        """
        rz = self.state.rz
        old = rz[places] if mode.accumulates else rz[:0]
        fill(rz, places, slots, new, mode)
        if mode.numbers.is_integer:
            if mode.accumulates:
                counts = count_wraps(mode, old, slots, new)
                self.overflows.add(address, mode.format, places, counts)
            return
        sums = rz[places].view(mode.dtype) if mode.accumulates else new
        if not all_finite(new) or not all_finite(sums):
            counts = count_overflows(mode, left, right, old, slots, new)
            self.overflows.add(address, mode.format, places, counts)


def fill(rz: Bytes, places: NDArray[np.intp], slots: Sequence[int], new: Host, mode: Mode) -> None:
    """Write the results of repeats to Rz in their order; if `mode` accumulates, add them to Rz.

    `places` are the indices of the banks in `rz`. `new` has the results, of shape (banks, repeats,
    n), and `slots` the value of RZ_SLOT of each repeat.
    """
    numbers: Host = rz.view(mode.sums)
    if mode.arrange == DOT:
        _fill_slots(numbers, places, slots, new[:, :, 0], mode)
        return
    for k, slot in enumerate(slots):
        start, size = (x // mode.sums.itemsize for x in mode.place(slot))
        if mode.accumulates:
            numbers[places, start : start + size] = accumulate(
                numbers[places, start : start + size], new[:, k]
            )
        elif mode.arrange != OUTER or k == len(slots) - 1:
            numbers[places, start : start + size] = new[:, k]


def _fill_slots(
    rz: Host, places: NDArray[np.intp], slots: Sequence[int], new: Host, mode: Mode
) -> None:
    """Write the numbers `new`, of shape (banks, repeats), to slots of Rz in the order of repeats.

    `slots` has the slot of each repeat, `places` are the indices of the banks in `rz`. If `mode`
    accumulates, the numbers are added. Slots follow each other cyclically, so n repeats in a row
    fill n different slots if there are n slots. One assignment therefore writes at most n repeats.
    """
    most = mode.numbers.slots
    for start in range(0, len(slots), most):
        where = places[:, None], np.array(slots[start : start + most])[None, :]
        numbers = new[:, start : start + most]
        rz[where] = accumulate(rz[where], numbers) if mode.accumulates else numbers
