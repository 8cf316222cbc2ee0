"""Writes the words that compute several functions of a column; register Rz keeps their results.

Each function reads operands, which are columns of the open row, or results of earlier functions.
Rz has room for a few results. A result for which it has no room goes to a spare column of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from macaw.isa.fim_circuit import FUNCTION_NAMES, FUNCTIONS
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.block_program import (
    COMPUTE,
    COMPUTE_ALONE,
    FROM_RZ,
    OPERATE,
    READ,
    STORE,
    TO_GIO,
    Word,
)
from macaw.lowering.fim.graph import MUL_ADD

_EITHER = ("add", "mul")  # functions whose operands may be exchanged


class Call(NamedTuple):
    """A function of values, which are numbered: first the operands in memory, then the results.

    `operands` has the numbers of the values that the function reads. If `stores`, the result of the
    call is also written to a separate column. In int8, the result is divided by 2 to the power of
    `shift`.
    """

    function: str
    operands: tuple[int, ...]
    stores: bool
    shift: int | None = None  # int8: the power of two by which the result is divided


class ColumnWord(NamedTuple):
    """A word of the program that computes one column of each result.

    In `text`, `{}` stands for the number of a column in the row. For column i of a chunk of n
    columns, this number is `place` · n + i. `operation` is that of a `Word`, or -1
    for a write of a register; `mode` is the number of its ALU mode.
    """

    text: str
    place: int = 0
    operation: int = -1  # -1: a write of a register
    mode: int = 0  # the number of the ALU mode

    def at(self, chunk: int, number: int) -> Word:
        """Return the word for column `number` of a chunk of `chunk` columns."""
        text = self.text.format(self.place * chunk + number)
        if self.operation < 0:
            return Word(text)
        return Word(text, OPERATE, value=self.mode, operation=self.operation)


@dataclass
class _Writer:
    """The words written so far, and where the values are when these words have been executed.

    A value can be in one of `slices` slices of Rz: `slot_of` has this slice. It can also be in one
    of `count` places of the open row: `places` has this place. In int8, `shift_of` has the shift of
    a value in Rz. `last_use` has the number of the last call that reads a value. The words have
    selected the slice `slot`, the function `function` and the shift `shift` (-1 if unknown).
    `accumulating` is the number of the ALU mode that adds a product to Rz.
    """

    slices: int  # number of slices of Rz
    last_use: dict[int, int]  # by value: the number of the last call that reads it
    places: dict[int, int]  # by value in memory: its place
    count: int  # number of places
    slot_of: dict[int, int] = field(default_factory=dict)  # by value in Rz: its slice
    slot: int = 0  # the slice that is selected
    function: str = ""  # the function that is selected
    words: list[ColumnWord] = field(default_factory=list)
    shift_of: dict[int, int] = field(default_factory=dict)  # by value in Rz, in int8
    shift: int = -1  # the shift that is selected; -1: unknown
    accumulating: int = 0  # the number of the ALU mode that adds a product to Rz

    def leave(self, value: int) -> None:
        """Write the words that must precede a word that reads `value` from Rz.

        They select the value's slice and, in int8, set the shift by which the value is divided.
        """
        self.select(self.slot_of[value])
        shift = self.shift_of.get(value, self.shift)
        if shift != self.shift:
            self.words.append(ColumnWord(f"mmr rz_shift, {shift}"))
            self.shift = shift

    def select(self, slot: int) -> None:
        """Write the word that selects a slice of Rz, unless this slice is already selected."""
        if slot != self.slot:
            self.words.append(ColumnWord(f"mmr rz_slot, {slot}"))
            self.slot = slot

    def store(self, value: int, place: int) -> None:
        """Write the words that copy a value from Rz to place `place` of the open row."""
        self.leave(value)
        self.words.append(ColumnWord("iosa[{}] <- rz", place, STORE))
        self.places[value] = place

    def make_room(self, number: int) -> int:
        """Return a slice of Rz for the result of call `number`.

        If no slice is free, a value leaves its slice: if possible a value that is also in memory,
        and of several candidates the one whose last use is latest. A value that only Rz has is
        stored before it leaves.
        """
        for value in [value for value in self.slot_of if self.last_use[value] <= number]:
            del self.slot_of[value]
        if len(self.slot_of) == self.slices:
            value = max(
                self.slot_of, key=lambda value: (value in self.places, self.last_use[value])
            )
            if value not in self.places:
                self.store(value, self.count)
                self.count += 1
            del self.slot_of[value]
        free = set(range(self.slices)) - set(self.slot_of.values())
        return self.slot if self.slot in free else min(free)

    def call(self, call: Call, number: int, mode: int) -> int:
        """Write the words of call number `number` in ALU mode `mode`; return the result's slice."""
        left, *rest = call.operands
        if rest and call.function in _EITHER and rest[0] in self.slot_of and left in self.places:
            left, rest = rest[0], [left]
        if call.function == MUL_ADD:
            return self.call_mul_add(call, number, mode)
        if left in self.slot_of:
            self.leave(left)
            self.words.append(ColumnWord("rop <- rz", operation=FROM_RZ))
        else:
            self.words.append(ColumnWord("rop <- iosa[{}]", self.places[left], READ))
        source, place, operation = "rop", 0, COMPUTE_ALONE
        what = FUNCTIONS[FUNCTION_NAMES.index(call.function)]
        if rest and rest[0] in self.places:
            source, place, operation = "iosa[{}]", self.places[rest[0]], COMPUTE
        elif rest:
            self.leave(rest[0])
            self.words.append(ColumnWord("gio <- rz", operation=TO_GIO))
            source = "gio"
        slot = self.make_room(number)
        self.select(slot)
        if call.function != self.function:
            self.words.append(ColumnWord(f"mmr op, {call.function}"))
            self.function = call.function
        if rest:
            text = f"rz <- rop {what.symbol} {source}"
        else:
            text = f"rz <- {what.symbol}rop" if what.symbol else f"rz <- {what.name}(rop)"
        self.words.append(ColumnWord(text, place, operation, mode))
        return slot

    def call_mul_add(self, call: Call, number: int, mode: int) -> int:
        """Write the words of a call of `mul_add`; return the slice of the result.

        The second and the fourth operand are constants, which are columns of the row.
        """
        first, factor, second, other = call.operands
        for value in (first, second):
            if value in self.slot_of and value not in self.places:
                self.store(value, self.count)
                self.count += 1
        slot = self.make_room(number)
        self.select(slot)
        if self.function != "mul":
            self.words.append(ColumnWord("mmr op, mul"))
            self.function = "mul"
        for value, constant, which in ((first, factor, mode), (second, other, self.accumulating)):
            if which == self.accumulating:
                self.words.append(ColumnWord("mmr accumulate, 1"))
            self.words.append(ColumnWord("rop <- iosa[{}]", self.places[value], READ))
            text = "rz <- rop * iosa[{}]"
            self.words.append(ColumnWord(text, self.places[constant], COMPUTE, which))
        self.words.append(ColumnWord("mmr accumulate, 0"))
        return slot


def column_words(
    operands: int, calls: Sequence[Call], slices: int
) -> tuple[tuple[ColumnWord, ...], int]:
    """Return the words that compute one column of each result, and the number of places.

    A place is a column of the open row. The first `operands` places are the operands, then follow
    the results that are stored, then spare columns. `slices` is the number of slices of Rz, 2 at
    least. Slice 0 is selected when the words begin and when they end. The ALU mode of a call is the
    call's index. There is one mode more, after those of the calls, which adds a product to Rz.
    """
    last_use = {operands + number: number for number in range(len(calls))}
    for number, call in enumerate(calls):
        last_use |= dict.fromkeys(call.operands, number)
    stored = sum(call.stores for call in calls)
    writer = _Writer(slices, last_use, {n: n for n in range(operands)}, operands + stored)
    writer.accumulating = len(calls)
    result = operands
    for number, call in enumerate(calls):
        value = operands + number
        writer.slot_of[value] = writer.call(call, number, number)
        if call.shift is not None:
            writer.shift_of[value] = call.shift
        if call.stores:
            writer.store(value, result)
            result += 1
    writer.select(0)
    return tuple(writer.words), writer.count
