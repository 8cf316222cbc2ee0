"""Origins of values in an island's circuits: records the operation that made each value.

The reference engine records each repeat: which registers or columns it filled, and the operands
from which it computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.bank_memory import BankMemory
from macaw.emu.fim.dram import Dram
from macaw.emu.fim.state import HOST, Block, IslandState
from macaw.emu.floats import Host, multiply, widened
from macaw.emu.origins import Origin, Origins, Place, Source
from macaw.emu.rules.fim_dram import CLOSED
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
    DOT,
    ELEMENTWISE,
    FORMATS,
    FUNCTIONS,
    GIO,
    IOSA,
    MUL,
    OUTER,
    REGISTERS,
    ROP,
    RZ,
    SCALED,
    SETTINGS_OF,
    SLICED,
    STEP_OF,
    Operation,
    factors,
)
from macaw.isa.lazy_dataclass import dataclass

Bytes = NDArray[np.uint8]
_STEP_BYTES = 256  # recorded bytes that count as one step of the search
ROW = "row"  # the open row, beside the circuits' registers
Setters = Mapping[str, Origin]


@dataclass
class Record:
    """One push, pull or repeat of a `fim` that a block has done, with its operands and results.

    `number` is the number of announcements before it. `registers` are the values of the circuits'
    registers before the word, and `setters` says what set them. A push stores the register `file`,
    and a pull fills it, from the columns at the addresses `columns`. A `fim` uses column `column`
    of the open row `row`, and `slot` as the value of RZ_SLOT. If it computes, `left` and `right`
    are its operands, and `result` has its results, `size` bytes of Rz from `first` on.
    """

    number: int
    time: int
    what: str
    address: int
    banks: tuple[int, ...]
    row: int
    registers: tuple[int, ...]
    setters: Setters
    operation: Operation | None = None  # None for a push or pull
    file: str = ""
    mode: Mode = field(default_factory=Mode)
    column: int = 0
    slot: int = 0
    first: int = 0
    size: int = 0
    left: Bytes | None = None  # of shape (banks, 32)
    right: Bytes | None = None
    # bytes of Rz before the computation, or that leave as int8, of shape (banks, size)
    before: Bytes | None = None
    result: Bytes | None = None
    columns: tuple[int, ...] = ()  # for a pull: the addresses of its columns, by bank


BankRecord = tuple[Record, int]  # and the index of the bank in its block


class IslandOrigins(Origins):
    """Records the operations of an island's circuits, and finds the origins of values."""

    can_be_partial = False
    fields = frozenset((ROP, GIO, RZ, IOSA))

    def __init__(
        self, state: IslandState, memory: BankMemory, dram: Dram, number: Callable[[], int]
    ) -> None:
        super().__init__(number)
        self.state, self.memory, self.dram = state, memory, dram
        self._steps = 0
        # by register and bank: the records of the steps that filled the register
        self._fills: dict[tuple[str, int], list[BankRecord]] = {}
        self._stores: dict[int, BankRecord] = {}  # by number of the announcement
        self._setters: dict[int, Setters] = {}  # by block: what set its registers
        self._present: list[Record] = []  # the word that the island does now

    @property
    def step_count(self) -> int:
        return self._steps

    # Reports of the island

    def start_program(self) -> None:
        """Record that a program starts. At its start, all registers that `mmr` can set are 0."""
        self._setters = {}

    def set_register(self, block: Block, name: str, value: int) -> None:
        """Record that the present word of a block sets the circuits' register `name` to `value`."""
        origin = Origin(self.number(), block.time, "mmr", block.pc, "", value)
        self._setters[block.index] = {**self._setters.get(block.index, {}), name: origin}

    def open_row(self, block: Block) -> None:
        """Record that the present word of a block, `act`, opens a row of its banks."""
        origin = Origin(self.number(), block.time, "act", block.pc, "", block.row)
        self._setters[block.index] = {**self._setters.get(block.index, {}), ROW: origin}

    def set_by_host(self, name: str, value: int, time: int, address: int | None) -> None:
        """Record that the host sets the register `name` to `value` in circuits that no block uses.

        `address` is the address of the host's instruction, `time` its cycle.
        """
        origin = Origin(self.number(), time, "store", address, "", value)
        self._setters[HOST] = {**self._setters.get(HOST, {}), name: origin}

    def _record(self, block: Block, what: str) -> Record:
        self._steps += 1
        setters = self._setters.get(block.index, {})
        return Record(
            self.number(), block.time, what, block.pc, tuple(block.banks), block.row,
            tuple(block.registers), setters, mode=block.mode,
        )  # fmt: skip

    def begin_operation(self, block: Block, operation: Operation, column: int, slot: int) -> None:
        """Record the operands of the repeat of `operation` that the block does next.

        `column` is the column of the open row that the repeat uses, `slot` the value of RZ_SLOT.
        """
        record = self._record(block, "fim")
        record.operation, record.column, record.slot = operation, column, slot
        self._present = [record]
        if not operation.computes:
            self._record_sums(record, operation.left, slot)
            return
        record.first, record.size = record.mode.place(slot)
        record.left = self._operand(record, operation.left)
        record.right = self._operand(record, operation.right)
        if record.mode.accumulates:
            record.before = self._results(record)

    def _record_sums(self, record: Record, name: str, slot: int) -> None:
        """Record the sums in slice `slot` of Rz, if a push or `fim` reads Rz in the format int8.

        The sums become int8 when they leave Rz. `name` is the register that the push or `fim`
        reads.
        """
        if name == RZ and record.mode.numbers.is_integer:
            record.size = record.mode.numbers.slice_bytes
            record.first = slot * record.size
            record.before = self._results(record)

    def _operand(self, record: Record, name: str) -> Bytes:
        state, banks = self.state, list(record.banks)
        data: Bytes = (
            state.iosa[banks, record.column] if name == IOSA else getattr(state, name)[banks]
        )
        return data.copy()

    def _results(self, record: Record) -> Bytes:
        data: Bytes = self.state.rz[list(record.banks), record.first : record.first + record.size]
        return data.copy()

    def end_operation(self) -> None:
        """Record the results of the repeat whose operands `begin_operation` recorded."""
        (record,) = self._present
        assert record.operation is not None
        if record.operation.computes:
            record.result = self._results(record)
            self._steps += len(record.banks) * (2 * COLUMN_BYTES + record.size) // _STEP_BYTES
        if record.operation.to == IOSA:
            for place, bank in enumerate(record.banks):
                self._add_store(
                    (record, place), self._column_address(bank, record.row, record.column)
                )
            return
        self._fill(record, record.operation.to)

    def _fill(self, record: Record, name: str) -> None:
        for place, bank in enumerate(record.banks):
            self._fills.setdefault((name, bank), []).append((record, place))

    def _add_store(self, store: BankRecord, address: int) -> None:
        self._stores[self.number()] = store
        self.on_move("write", store[0].time, address, COLUMN_BYTES)

    def _column_address(self, bank: int, row: int, column: int) -> int:
        """Return the address of a column, given by its bank, its row, and its number in the row."""
        return self.memory.address(self.memory.column_at(bank, row, column))

    def begin_push(self, block: Block, name: str, slot: int) -> None:
        """Record that the next push of a block will store the register `name`.

        If the register is Rz, `slot` is the number of the slice.
        """
        record = self._record(block, "push")
        record.file, record.slot = name, slot
        self._present = [record]
        self._record_sums(record, name, slot)

    def record_store(self, place: int, offset: int) -> None:
        """Record that the present push has stored the register of one bank of the block.

        `place` is the index of the bank in the block. `offset` is the offset of the written column,
        in bytes from the start of the island's banks.
        """
        self._add_store((self._present[0], place), self.memory.start + offset)

    def record_pull(self, block: Block, name: str, offsets: list[int]) -> None:
        """Record that a pull of a block has filled the register `name` from columns.

        `offsets` are the offsets of these columns, in bytes from the start of the island's banks:
        one for all banks of the block, or one for each bank.
        """
        record = self._record(block, "pull")
        each = offsets * len(record.banks) if len(offsets) == 1 else offsets
        record.file, record.columns = name, tuple(self.memory.start + offset for offset in each)
        self._fill(record, name)

    # Questions

    def writers(self, number: int, address: int, size: int) -> Iterator[Origin]:
        store = self._stores.get(number)
        if store is not None:
            record, place = store
            name = record.file if record.operation is None else record.operation.left
            begin = address % COLUMN_BYTES
            if record.before is not None:
                for byte in range(size):
                    origin = self._leaving_origin(record, place, begin + byte)
                    origin.part = byte, 1
                    yield origin
                return
            yield self._copy_origin(
                record, self._register(record, name, record.banks[place], begin, size)
            )

    def array_size(self, field: str) -> int:
        return self.state.rz.nbytes if field == RZ else 0

    def makers(self, place: Place, before: int) -> Iterator[Origin]:
        whole = getattr(self.state, place.field)
        size = place.size or whole.nbytes
        for bank, (shift, each) in place.items(whole[0].nbytes, whole.nbytes):
            low, high = max(-shift, 0), min(size - shift, each)
            for origin in self._register_origins(place.field, bank, low, high, before):
                assert origin.part is not None
                origin.part = origin.part[0] + shift, origin.part[1]
                yield origin

    def _register_origins(
        self, name: str, bank: int, low: int, high: int, before: int
    ) -> Iterator[Origin]:
        """Yield the origins of bytes `low` to `high` - 1 of the register `name` of a bank.

        Steps from announcement number `before` on are ignored. Announcements are events for
        listeners, numbered from the start of the record. The `part` of an origin counts bytes from
        the start of the register.
        """
        if name == IOSA:
            row = self.dram.rows[bank]
            if row != CLOSED:
                source = Source(
                    IOSA, before, (self._column_address(bank, row, 0) + low, high - low)
                )
                origin = Origin(before, -1, f"row {row}", sources=lambda: iter((source,)))
                origin.part = low, high - low
                yield origin
            return
        fills = self._fills.get((name, bank), [])
        while low < high:
            fill = next((x for x in reversed(fills) if _covers(x[0], name, low, before)), None)
            if fill is None:
                low += 1
                continue
            origin = self._fill_origin(*fill, low, high)
            assert origin.part is not None
            low = sum(origin.part)  # a copy, because the caller changes it
            yield origin

    def _fill_origin(self, record: Record, place: int, low: int, high: int) -> Origin:
        """Return the origin of the bytes `low` to `high` - 1 of a register, which `record` filled.

        If `record` computed numbers, or made int8 numbers from sums in Rz, the origin covers only
        the number at `low`. Otherwise (a copy) it covers all these bytes. `place` is the index of
        the bank in the block.
        """
        if record.operation is not None and record.operation.computes:
            return self._number_origin(record, place, low)
        if record.before is not None:
            origin = self._leaving_origin(record, place, low)
            origin.part = low, 1
            origin.dtype = record.mode.dtype
            return origin
        if record.operation is None:
            source = Source("buffer", record.number, (record.columns[place] + low, high - low))
        else:
            name, bank = record.operation.left, record.banks[place]
            source = self._register(record, name, bank, low, high - low)
        origin = self._copy_origin(record, source)
        origin.part = low, high - low
        return origin

    def _register(self, record: Record, name: str, bank: int, begin: int, size: int) -> Source:
        """Return as a source the `size` bytes of a register, from byte `begin` on, that were read.

        `record` is the push or `fim` that read them, `name` the register and `bank` its bank. If
        `name` is IOSA, the bytes are from the column of the open row that was used.
        """
        if name == IOSA:
            return Source(
                name,
                record.number,
                (self._column_address(bank, record.row, record.column) + begin, size),
            )
        if name == RZ:
            begin += record.slot * COLUMN_BYTES
        each = getattr(self.state, name)[0].nbytes
        return Source(name, record.number, place=Place(name, bank * each + begin, size))

    def _step(self, record: Record, value: Any, sources: Callable[[], Iterator[Source]]) -> Origin:
        return Origin(record.number, record.time, record.what, record.address, "", value, sources)

    def _copy_origin(self, record: Record, source: Source) -> Origin:
        """Return the origin of bytes that the step in `record` copied from `source`."""

        def sources() -> Iterator[Source]:
            yield from self._open_row(record)
            if source.what == RZ:
                yield from self._settings(record, SLICED)
                if record.before is not None:
                    yield from self._settings(record, SCALED)
            yield source

        return self._step(record, None, sources)

    def _leaving_origin(self, record: Record, place: int, lane: int) -> Origin:
        """Return the origin of the int8 number `lane` of a column that was moved out of Rz.

        The origin is the sum in Rz from which `record` made this number. `place` is the index of
        the bank in the block.
        """
        assert record.before is not None
        each = record.mode.sums.itemsize
        value = _value(record.before[place].view(record.mode.sums)[lane : lane + 1])
        first = record.banks[place] * self.state.rz[0].nbytes + record.first + lane * each
        where = Place(RZ, first, each, record.mode.sums)
        return self._copy_origin(record, Source(RZ, record.number, place=where, value=value))

    # Numbers that the ALU computed

    def _number_origin(self, record: Record, place: int, low: int) -> Origin:
        """Return the origin of the computed number that contains byte `low` of Rz.

        The step in `record` computed the number. `place` is the index of the bank in the block.
        """
        assert record.result is not None
        item = record.mode.sums.itemsize
        number = (low - record.first) // item
        value = _value(record.result[place].view(record.mode.sums)[number : number + 1])
        origin = self._step(record, value, partial(self._sources, record, place, number))
        origin.part = record.first + number * item, item
        origin.dtype = record.mode.sums
        return origin

    def _sources(self, record: Record, place: int, number: int) -> Iterator[Source]:
        mode, function = record.mode, FUNCTIONS[record.mode.op]
        yield from self._open_row(record)
        yield from self._settings(record, self._names(record))
        if record.before is not None:
            old = _value(record.before[place].view(mode.sums)[number : number + 1])
            size, bank = mode.sums.itemsize, record.banks[place]
            first = bank * self.state.rz[0].nbytes + record.first + number * size
            where = Place(RZ, first, size, mode.sums)
            yield Source("before", record.number, place=where, value=old)
        lanes = FORMATS[mode.format].lanes
        pairs = list(factors(mode.arrange, number, lanes, mode.transpose))
        for left, right in pairs:
            one = self._lane(record, place, "left", left)
            two = self._lane(record, place, "right", right)
            plain = [source._replace(value=_value(source.value)) for source in (one, two)]
            if mode.op != MUL or (mode.arrange == ELEMENTWISE and not mode.accumulates):
                yield from plain[: function.operands]
            else:
                if mode.numbers.is_integer:
                    value = _value(one.value) * _value(two.value)
                else:
                    value = _value(multiply(one.value, two.value))
                origin = self._step(record, value, partial(iter, plain))
                yield Source("product", record.number, None, None, origin, value)

    def _lane(self, record: Record, place: int, side: str, lane: int) -> Source:
        """Return lane number `lane` of an operand as a source; its value is an array of one number.

        The step in `record` read the operand. `side` is "left" or "right"; `place` is the index of
        the bank in the block.
        """
        assert record.operation is not None
        data = record.left if side == "left" else record.right
        assert data is not None
        size = record.mode.dtype.itemsize
        name = record.operation.left if side == "left" else record.operation.right
        source = self._register(record, name, record.banks[place], lane * size, size)
        lanes = data[place].view(record.mode.dtype)
        where = source.place
        if where is not None:
            where = where._replace(dtype=record.mode.dtype)
        return source._replace(what=name, place=where, value=lanes[lane : lane + 1])

    def _names(self, record: Record) -> tuple[str, ...]:
        names = SETTINGS_OF[ARRANGEMENT_NAMES[record.mode.arrange]]
        if record.mode.op == MUL:
            names = (*names, "accumulate")
        if record.mode.arrange != OUTER:
            names = (*names, *SLICED)
        return names

    def _open_row(self, record: Record) -> Iterator[Source]:
        """Yield a record's open row as a source, if the operation reads or writes columns of it.

        Yield nothing unless an `act` of the block's program has opened the row.
        """
        operation, origin = record.operation, record.setters.get(ROW)
        if operation is None or origin is None:
            return
        if IOSA in (operation.left, operation.to, operation.right if operation.computes else ""):
            yield Source(ROW, record.number, None, None, origin, record.row, setting=True)

    def _settings(self, record: Record, names: tuple[str, ...]) -> Iterator[Source]:
        """Yield the circuits' registers `names` as sources: each value, and the word that set it.

        The values are those that the step in `record` used.
        """
        for name in names:
            row = next(row for row in REGISTERS.values() if row.name == name)
            value = (
                record.slot if name in SLICED else record.registers[CIRCUIT_REGISTERS.index(name)]
            )
            shown: int | str = row.words[value] if row.words else value
            origin = record.setters.get(name)
            begin = 0 if origin is None else origin.value
            if name in SLICED and value != begin:  # operations change this register, too
                shown = f"{value}, counted from {begin}"
            yield Source(name, record.number, None, None, origin, shown, setting=True)
            if name in SLICED and self._is_advanced(record) and STEP_OF[name] in record.setters:
                yield from self._settings(record, (STEP_OF[name],))

    def _is_advanced(self, record: Record) -> bool:
        """Return whether the operation in `record` advanced RZ_SLOT by an amount set by programs.

        Programs set this amount in a register (`STEP_OF`). Dot products ignore the register and
        advance RZ_SLOT by a fixed amount.
        """
        computes = record.operation is not None and record.operation.computes
        return not computes or record.mode.arrange != DOT


def _value(one: Host) -> float:
    """Return the number in `one`, an array of one integer or one floating-point number."""
    return int(one[0]) if one.dtype.kind == "i" else float(widened(one)[0])


def _covers(record: Record, name: str, byte: int, before: int) -> bool:
    """Return whether the step in `record` filled byte `byte` of the register `name`.

    The result is False for steps from announcement number `before` on. Announcements are events for
    listeners, numbered from the start of the record.
    """
    if record.number >= before:
        return False
    if name != RZ or record.operation is None:
        return True
    return record.first <= byte < record.first + record.size
