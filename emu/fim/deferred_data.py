"""Computes the data of circuits for the fast engine: the products of many words together.

Times do not depend on data. So the engine records the products of a block and computes them later,
when a word needs their sums. Until then, it records the open row and Rop as addresses in memory,
and copies nothing. `settle` computes and copies everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from macaw.emu.fim import fast_arithmetic
from macaw.emu.fim.arithmetic import Mode, results
from macaw.emu.fim.bank_memory import BankMemory
from macaw.emu.fim.circuit_data import Bytes, CircuitData, Repeats
from macaw.emu.fim.overflows import Overflows
from macaw.emu.fim.state import Block, IslandState
from macaw.emu.floats import Host
from macaw.isa.fim_circuit import COLUMN_BYTES, DOT, IOSA, ROP, SLOTS, Operation
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

_MOST_RESULTS = 1 << 18  # this many numbers, over all banks and repeats, fit into a fast cache
_UNKNOWN = -1


class _Kind(NamedTuple):
    """The properties that products must share so that the engine can compute them together."""

    operation: Operation
    mode: Mode  # without accumulation
    repeats: int


def _kind(repeats: Repeats) -> _Kind:
    return _Kind(repeats.operation, repeats.mode.product, len(repeats.columns))


@dataclass
class _Group:
    """The deferred work of a block: words whose products are computed together.

    `places` are the indices of the block's banks. `kind` has what the words have in common. The
    lists have one item for each word: its open row, its columns, its slots of Rz, whether it
    accumulates, its address, and its operand in a register. If the open row has not been
    copied from memory yet, `row` is its number. If Rop has not been copied yet, `rop` is the row
    and the column of its bytes.
    """

    places: NDArray[np.intp]
    row: int = _UNKNOWN
    rop: tuple[int, int] | None = None
    kind: _Kind | None = None
    rows: list[int] = field(default_factory=list)
    columns: list[NDArray[np.int64]] = field(default_factory=list)
    slots: list[Sequence[int]] = field(default_factory=list)
    accumulates: list[bool] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)
    # the operand in a register: its bytes, or row and column of its bytes
    registers: list[Bytes | tuple[int, int]] = field(default_factory=list)

    def clear(self) -> None:
        """Forget the recorded products."""
        for items in (
            self.rows, self.columns, self.slots, self.accumulates, self.addresses, self.registers
        ):  # fmt: skip
            items.clear()

    def suits(self, repeats: Repeats) -> bool:
        """Return whether one computation can do the products of `repeats` and the recorded ones."""
        return self.kind == _kind(repeats)


class DeferredData(CircuitData):
    """Records loads of rows, and products with columns; executes them in `settle` at the latest.

    All other operations execute at once, after the recorded work on which they depend. The
    recorded work reads memory later. So code that writes to the banks of a block without this
    object must call `settle` first.
    """

    def __init__(self, state: IslandState, memory: BankMemory, overflows: Overflows) -> None:
        super().__init__(state, memory, overflows)
        self._groups: dict[int, _Group] = {}

    def load_rows(self, block: Block, banks: list[int], row: int) -> None:
        group = self._group(block)
        if len(banks) == len(block.banks):
            group.row = row
            return
        self._settle(group)
        super().load_rows(block, banks, row)

    def operate(self, block: Block, repeats: Repeats) -> None:
        group = self._group(block)
        operation = repeats.operation
        if group.row != _UNKNOWN:
            if operation.computes and IOSA in operation.reads:
                self._record(group, repeats)
                return
            if operation.to == ROP and operation.left == IOSA:
                group.rop = group.row, int(repeats.columns[-1])
                return
            if operation.to == IOSA:
                self._compute_products(group)
                self._copy_rop(group)
                super().operate(block, repeats)
                return
        self._settle(group)
        super().operate(block, repeats)

    def settle(self) -> None:
        """Execute the deferred work of all blocks."""
        for group in self._groups.values():
            self._settle(group)

    def _group(self, block: Block) -> _Group:
        group = self._groups.get(block.index)
        if group is None:
            group = self._groups[block.index] = _Group(block.places)
        return group

    def _record(self, group: _Group, repeats: Repeats) -> None:
        """Add the products that a word of a block computes to the block's group.

        `repeats` has the word's operation, its columns and its slots of Rz.
        """
        operation, mode, columns, slots, address, _ = repeats
        if not group.suits(repeats):
            self._compute_products(group)
            group.kind = _kind(repeats)
        takes_rop = ROP in operation.reads
        register: Bytes | tuple[int, int] | None = group.rop if takes_rop else None
        if register is None:
            register = (self.state.rop if takes_rop else self.state.gio)[group.places]
        group.rows.append(group.row)
        group.columns.append(columns)
        group.slots.append(slots)
        group.accumulates.append(mode.accumulates)
        group.addresses.append(address)
        group.registers.append(register)
        if len(group.rows) * len(columns) * len(group.places) * COLUMN_BYTES // 2 >= _MOST_RESULTS:
            self._compute_products(group)

    def _settle(self, group: _Group) -> None:
        """Execute the deferred work in `group`: products, and copies from memory to registers.

        If the open row of the group's block, or its Rop, is only recorded as an address, copy the
        bytes at this address from memory: a row to the sense amplifiers (`iosa`), Rop to the
        register Rop.
        """
        self._compute_products(group)
        self._copy_rop(group)
        if group.row != _UNKNOWN:
            self.state.iosa[group.places] = self.memory.cells[group.places, group.row]
            group.row = _UNKNOWN

    def _copy_rop(self, group: _Group) -> None:
        if group.rop is not None:
            row, column = group.rop
            self.state.rop[group.places] = self.memory.cells[group.places, row, column]
            group.rop = None

    def _compute_products(self, group: _Group) -> None:
        """Compute a group's recorded products; write them to the register Rz, or add them to it.

        The order is that in which they were recorded.
        """
        if not group.rows:
            return
        assert group.kind is not None
        operation, mode, _ = group.kind
        register = self._registers(group)
        if not self._add_dots(group, mode, register):
            self._fill(group, operation, mode, register[:, :, None, :])
        group.clear()

    def _fill(self, group: _Group, operation: Operation, mode: Mode, register: Bytes) -> None:
        """Compute a group's recorded products, and write them to Rz, as the reference engine does.

        `register` has the operands from registers, of shape (banks, words, 1, 32); `mode` is the
        mode of the products.
        """
        column = self._columns(group)
        left, right = (column, register) if operation.left == IOSA else (register, column)
        new = results(mode, left, right)
        shape = (*column.shape[:3], new.shape[-1])
        new = np.broadcast_to(new, shape)
        for number, accumulates in enumerate(group.accumulates):
            own = replace(mode, accumulate=int(accumulates))
            self.fill_rz(
                group.places, group.slots[number], new[:, number], own,
                left[:, number], right[:, number], group.addresses[number],
            )  # fmt: skip

    def _add_dots(self, group: _Group, mode: Mode, register: Bytes) -> bool:
        """Add fp16 dot products of a group to Rz, if possible. Return whether they were added.

        `register` has the operands from registers, of shape (banks, words, 32); `mode` is the mode
        of the products. It is possible only if all words fill the same slots, and if no number is
        too large for fp16.
        """
        slots = group.slots[0]
        alike = all(other == slots for other in group.slots)
        if mode.arrange != DOT or mode.dtype != np.float16 or len(slots) > SLOTS or not alike:
            return False
        # With repeats as the first axis, NumPy repeats the registers fastest.
        column = self._columns_by_repeat(group)
        products = fast_arithmetic.dots(column.view(np.float16), register.view(np.float16))
        if products is None:
            return False
        rz: Host = self.state.rz.view(np.float16)
        where = group.places[:, None], np.array(slots)[None, :]
        new = np.ascontiguousarray(products.transpose(2, 1, 0))
        sums = fast_arithmetic.running_sums(rz[where], new, group.accumulates)
        if sums is None:
            return False
        rz[where] = sums
        return True

    def _columns_by_repeat(self, group: _Group) -> Bytes:
        """Return the columns of a group's recorded words, of shape (repeats, banks, words, 32)."""
        cells = self.memory.cells
        numbers = group.places[:, None] * cells.shape[1] + np.array(group.rows)
        numbers = numbers * cells.shape[2] + np.array(group.columns).T[:, None, :]
        # For items of 32 bytes, `take` is faster than three indices.
        read: Bytes = cells.reshape(-1, COLUMN_BYTES).take(numbers, axis=0)
        return read

    def _columns(self, group: _Group) -> Bytes:
        """Return the columns of a group's recorded words, of shape (banks, words, repeats, 32)."""
        cells, places = self.memory.cells, group.places[:, None]
        rows = np.array(group.rows)[None, :]
        columns = np.array(group.columns)
        first, last = int(columns[0, 0]), int(columns[0, -1])
        if last - first == columns.shape[1] - 1 and (columns == np.arange(first, last + 1)).all():
            read: Bytes = cells[places, rows, first : last + 1]
        else:
            read = cells[places[..., None], rows[..., None], columns[None]]
        return read

    def _registers(self, group: _Group) -> Bytes:
        """Return the register operands of a group's recorded words, of shape (banks, words, 32)."""
        data = np.empty((len(group.places), len(group.rows), COLUMN_BYTES), np.uint8)
        words, rows, columns = [], [], []
        for number, register in enumerate(group.registers):
            if isinstance(register, tuple):
                words.append(number)
                rows.append(register[0])
                columns.append(register[1])
            else:
                data[:, number] = register
        if words:
            data[:, words] = self.memory.cells[group.places[:, None], rows, columns]
        return data
