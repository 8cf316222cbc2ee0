"""Finds registers whose values are known: constants, and pointers that a loop moves evenly."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.emu.scalar.semantics import MASK
from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple


class Step(NamedTuple):
    """The numbers that a pass of a loop adds to a register.

    The whole pass adds `by`; the part of the pass before some instruction adds `before`.
    """

    by: int  # 0 if the loop does not write the register
    before: int


class Steps:
    """Finds the general registers of a loop that each pass changes by a constant, or not at all.

    `loop` has the instructions of a pass, `written` the registers that each of them writes. Sums
    are computed as if registers did not wrap at 32 bits.
    """

    def __init__(self, loop: Sequence[Decoded], written: Sequence[Sequence[int]]) -> None:
        self._loop = loop
        self._writers: dict[int, list[int]] = {}  # by register: the instructions that write it
        for place in range(len(loop)):
            for register in written[place]:
                self._writers.setdefault(register, []).append(place)

    def of(self, register: int, place: int) -> Step | None:
        """Return the changes of a register in a whole pass, and in the part before `place`.

        `place` is the index of an instruction in the pass. The result is None if the change is not
        the same in each pass, or if the instruction is not part of the loop.
        """
        if place >= len(self._loop):
            return None
        writers = self._writers.get(register, ())
        if not writers or not register:
            return Step(0, 0)
        by = added(self._loop[writers[0]])
        if len(writers) > 1 or by is None:
            return None
        return Step(by, by if writers[0] < place else 0)


class Value(NamedTuple):
    """A value: that of the register `register` at the start of the block, plus `constant`."""

    register: int  # the number of the register; 0: the value is the constant
    constant: int


def find_value(
    start: int, instructions: Sequence[Decoded], written: Sequence[Sequence[int]], register: int
) -> Value | None:
    """Return the value of a register after `instructions`, none of which has jumped.

    The first instruction is at the address `start`; `written` has the registers that each of them
    writes. The result is None if the value is neither a constant nor a sum of a register's value
    before `instructions` and a constant. It is not considered that sums of registers wrap at 32
    bits.
    """
    constant = 0
    for place in reversed(range(len(instructions))):
        if not register:
            break
        if register not in written[place]:
            continue
        found = instructions[place]
        values = found.values
        if found.row.mnemonic == "addi":
            register = values["rs1"]
            constant += values["imm"]
        elif found.row.mnemonic in ("lui", "auipc"):
            register = 0
            constant += values["imm"] << 12
            if found.row.mnemonic == "auipc":
                constant += start + 4 * place
        else:
            return None
    return Value(register, constant if register else constant & MASK)


def added(found: Decoded) -> int | None:
    """Return the constant that the instruction `found` adds to a register.

    The result is None if `found` does anything else.
    """
    values = found.values
    is_sum = found.row.mnemonic == "addi" and values["rd"] == values["rs1"] != 0
    return values["imm"] if is_sum else None
