"""Where what the circuits of an island hold came from: what each operation moved and computed.

The reference engine tells of each repeat. Rop, Rgio and Rz remember which operation filled them,
columns of memory which one wrote them; of what it computed an operation remembers its operands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.fim.arithmetic import Mode
from macaw.emu.fim.state import HOST, Block
from macaw.emu.origins import Origin, Origins, Place, Source
from macaw.emu.rules.dram import CLOSED
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    CIRCUIT_REGISTERS,
    COLUMN_BYTES,
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
    SETTINGS_OF,
    SLICED,
    Operation,
    factors,
)
from macaw.isa.fim_islands import Place as Cell

if TYPE_CHECKING:
    from macaw.emu.fim.processor import Island

Bytes = NDArray[np.uint8]
_KEPT = 256  # bytes that count as one step, of what is kept
_SLOT = CIRCUIT_REGISTERS.index("rz_slot")
Setters = Mapping[str, Origin]


@dataclass
class Act:
    """A word that a block has done, or a repeat of one."""

    number: int  # of announcements before it
    time: int
    what: str
    address: int
    banks: tuple[int, ...]
    row: int
    registers: tuple[int, ...]  # of the circuits, as they were
    setters: Setters
    operation: Operation | None = None  # None: push, pull
    file: str = ""  # the register of a push or pull
    mode: Mode = field(default_factory=Mode)
    column: int = 0
    slot: int = 0
    first: int = 0  # where in Rz the results are, their bytes
    size: int = 0
    left: Bytes | None = None  # of what computes: (banks, 32)
    right: Bytes | None = None
    before: Bytes | None = None  # what Rz held: (banks, size)
    result: Bytes | None = None
    columns: tuple[int, ...] = ()  # of a pull: addresses, by bank


Filled = tuple[Act, int]  # and the place of the bank in its block


class IslandOrigins(Origins):
    """Remembers what the circuits of an island did."""

    fields = frozenset((ROP, GIO, RZ, IOSA))

    def __init__(self, island: Island, number: Callable[[], int]) -> None:
        super().__init__(number)
        self.island = island
        self._kept = 0
        self._filled: dict[tuple[str, int], list[Filled]] = {}  # by register and bank
        self._written: dict[int, Filled] = {}  # by number
        self._setters: dict[int, Setters] = {}  # by block
        self._at: list[Act] = []  # the one that is at work

    @property
    def kept(self) -> int:
        return self._kept

    # What the island tells

    def started(self) -> None:
        """Another program begins: the registers of all circuits are 0."""
        self._setters = {}

    def set(self, block: Block, name: str, value: int) -> None:
        """The word of a block sets a register of its circuits."""
        made = Origin(self.number(), block.time, "mmr", block.pc, "", value)
        self._setters[block.index] = {**self._setters.get(block.index, {}), name: made}

    def host_sets(self, name: str, value: int, time: int, address: int | None) -> None:
        """The host sets a register of the circuits that no block works with."""
        made = Origin(self.number(), time, "store", address, "", value)
        self._setters[HOST] = {**self._setters.get(HOST, {}), name: made}

    def _act(self, block: Block, what: str) -> Act:
        self._kept += 1
        setters = self._setters.get(block.index, {})
        return Act(
            self.number(), block.time, what, block.pc, tuple(block.banks), block.row,
            tuple(block.registers), setters, mode=block.mode,
        )  # fmt: skip

    def moves(self, block: Block, operation: Operation, column: int, slot: int) -> None:
        """An operation is about to be done once."""
        act = self._act(block, "fim")
        act.operation, act.column, act.slot = operation, column, slot
        self._at = [act]
        if not operation.computes:
            return
        act.first, act.size = act.mode.place(slot)
        act.left = self._operand(act, operation.left)
        act.right = self._operand(act, operation.right)
        if act.mode.accumulates:
            act.before = self._results(act)

    def _operand(self, act: Act, name: str) -> Bytes:
        state, banks = self.island.state, list(act.banks)
        found: Bytes = (
            state.iosa[banks, act.column] if name == IOSA else getattr(state, name)[banks]
        )
        return found.copy()

    def _results(self, act: Act) -> Bytes:
        found: Bytes = self.island.state.rz[list(act.banks), act.first : act.first + act.size]
        return found.copy()

    def moved(self) -> None:
        """It was done."""
        (act,) = self._at
        assert act.operation is not None
        if act.operation.computes:
            act.result = self._results(act)
            self._kept += len(act.banks) * (2 * COLUMN_BYTES + act.size) // _KEPT
        if act.operation.to == IOSA:
            for place, bank in enumerate(act.banks):
                self._wrote((act, place), self._cell(bank, act.row, act.column))
            return
        self._fill(act, act.operation.to)

    def _fill(self, act: Act, name: str) -> None:
        for place, bank in enumerate(act.banks):
            self._filled.setdefault((name, bank), []).append((act, place))

    def _wrote(self, found: Filled, address: int) -> None:
        self._written[self.number()] = found
        self.told("write", found[0].time, address, COLUMN_BYTES)

    def _cell(self, bank: int, row: int, column: int) -> int:
        """The address of a column of a bank."""
        island = self.island
        return island.address(island.first_column) + island.geometry.offset(Cell(bank, row, column))

    def pushes(self, block: Block, name: str, slot: int) -> None:
        """A push begins."""
        act = self._act(block, "push")
        act.file, act.slot = name, slot
        self._at = [act]

    def pushed(self, place: int, offset: int) -> None:
        """It has stored the register of the block's bank at a place."""
        self._wrote((self._at[0], place), self.island.address(self.island.first_column) + offset)

    def pulled(self, block: Block, name: str, offsets: list[int]) -> None:
        """A pull has filled a register from columns, one for all banks or one for each."""
        act = self._act(block, "pull")
        base = self.island.address(self.island.first_column)
        each = offsets * len(act.banks) if len(offsets) == 1 else offsets
        act.file, act.columns = name, tuple(base + offset for offset in each)
        self._fill(act, name)

    # Questions

    def written(self, number: int, address: int, size: int) -> Iterator[Origin]:
        found = self._written.get(number)
        if found is not None:
            act, place = found
            name = act.file if act.operation is None else act.operation.left
            begin = address % COLUMN_BYTES
            yield self._copied(act, self._register(act, name, act.banks[place], begin, size))

    def made(self, place: Place, before: int) -> Iterator[Origin]:
        whole = getattr(self.island.state, place.field)
        size = place.size or whole.nbytes
        for bank, (shift, each) in place.items(whole[0].nbytes, whole.nbytes):
            low, high = max(-shift, 0), min(size - shift, each)
            for origin in self._held(place.field, bank, low, high, before):
                assert origin.part is not None
                origin.part = origin.part[0] + shift, origin.part[1]
                yield origin

    def _held(self, name: str, bank: int, low: int, high: int, before: int) -> Iterator[Origin]:
        """What made some bytes of a register of a bank; their part is counted from its begin."""
        if name == IOSA:
            row = self.island.dram.rows[bank]
            if row != CLOSED:
                source = Source(IOSA, before, (self._cell(bank, row, 0) + low, high - low))
                made = Origin(before, -1, f"row {row}", sources=lambda: iter((source,)))
                made.part = low, high - low
                yield made
            return
        filled = self._filled.get((name, bank), [])
        while low < high:
            found = next((x for x in reversed(filled) if _covers(x[0], name, low, before)), None)
            if found is None:
                low += 1
                continue
            made = self._made(*found, low, high)
            assert made.part is not None
            low = sum(made.part)  # who asks may count it from elsewhere
            yield made

    def _made(self, act: Act, place: int, low: int, high: int) -> Origin:
        """Who filled bytes from `low` on, as many of them as it filled together."""
        if act.operation is not None and act.operation.computes:
            return self._computed(act, place, low)
        if act.operation is None:
            source = Source("buffer", act.number, (act.columns[place] + low, high - low))
        else:
            name, bank = act.operation.left, act.banks[place]
            source = self._register(act, name, bank, low, high - low)
        made = self._copied(act, source)
        made.part = low, high - low
        return made

    def _register(self, act: Act, name: str, bank: int, begin: int, size: int) -> Source:
        """Bytes of a column: of a register, or of the open row."""
        if name == IOSA:
            return Source(name, act.number, (self._cell(bank, act.row, act.column) + begin, size))
        if name == RZ:
            begin += act.slot * COLUMN_BYTES
        each = getattr(self.island.state, name)[0].nbytes
        return Source(name, act.number, place=Place(name, bank * each + begin, size))

    def _step(self, act: Act, value: Any, sources: Callable[[], Iterator[Source]]) -> Origin:
        return Origin(act.number, act.time, act.what, act.address, "", value, sources)

    def _copied(self, act: Act, source: Source) -> Origin:
        """Bytes that were only moved."""

        def sources() -> Iterator[Source]:
            if source.what == RZ:
                yield from self._settings(act, SLICED)
            yield source

        return self._step(act, None, sources)

    # Numbers that the ALU made

    def _computed(self, act: Act, place: int, low: int) -> Origin:
        """The number in which a byte of Rz lies."""
        assert act.result is not None
        item = act.mode.dtype.itemsize
        number = (low - act.first) // item
        value = act.result[place].view(act.mode.dtype)[number].item()
        made = self._step(act, value, partial(self._sources, act, place, number))
        made.part = act.first + number * item, item
        return made

    def _sources(self, act: Act, place: int, number: int) -> Iterator[Source]:
        mode, function = act.mode, FUNCTIONS[act.mode.op]
        yield from self._settings(act, self._names(act))
        if act.before is not None:
            old = act.before[place].view(mode.dtype)[number].item()
            size, bank = mode.dtype.itemsize, act.banks[place]
            first = bank * self.island.state.rz[0].nbytes + act.first + number * size
            yield Source("before", act.number, place=Place(RZ, first, size), value=old)
        lanes = FORMATS[mode.format].lanes
        pairs = list(factors(mode.arrange, number, lanes, mode.transpose))
        for left, right in pairs:
            one = self._lane(act, place, "left", left)
            two = self._lane(act, place, "right", right)
            if mode.op != MUL or (mode.arrange == ELEMENTWISE and not mode.accumulates):
                yield from (one, two)[: function.operands]
                continue
            with np.errstate(all="ignore"):
                value = (one.value * two.value).item()
            made = self._step(act, value, partial(iter, _plain(one, two)))
            yield Source("product", act.number, None, None, made, value)

    def _lane(self, act: Act, place: int, side: str, lane: int) -> Source:
        """A number of an operand; its value keeps its type."""
        assert act.operation is not None
        data = act.left if side == "left" else act.right
        assert data is not None
        size = act.mode.dtype.itemsize
        name = act.operation.left if side == "left" else act.operation.right
        found = self._register(act, name, act.banks[place], lane * size, size)
        return found._replace(what=name, value=data[place].view(act.mode.dtype)[lane])

    def _names(self, act: Act) -> tuple[str, ...]:
        names = SETTINGS_OF[ARRANGEMENT_NAMES[act.mode.arrange]]
        if act.mode.op == MUL:
            names = (*names, "accumulate")
        if act.mode.arrange != OUTER:
            names = (*names, *SLICED)
        return names

    def _settings(self, act: Act, names: tuple[str, ...]) -> Iterator[Source]:
        """Registers of the circuits: what they said, and the word that set them."""
        for name in names:
            row = next(row for row in REGISTERS.values() if row.name == name)
            value = act.slot if name in SLICED else act.registers[CIRCUIT_REGISTERS.index(name)]
            shown: int | str = row.words[value] if row.words else value
            made = act.setters.get(name)
            begin = 0 if made is None else made.value
            if name in SLICED and value != begin:  # it goes on by itself
                shown = f"{value}, counted from {begin}"
            yield Source(name, act.number, None, None, made, shown, setting=True)


def _plain(*sources: Source) -> list[Source]:
    return [source._replace(value=source.value.item()) for source in sources]


def _covers(act: Act, name: str, byte: int, before: int) -> bool:
    """Whether an act before a number has filled a byte of a register."""
    if act.number >= before:
        return False
    if name != RZ or act.operation is None:
        return True
    return act.first <= byte < act.first + act.size
