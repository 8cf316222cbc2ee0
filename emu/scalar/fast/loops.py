"""Finds the registers that a loop changes by a constant in each pass, such as pointers."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.isa.codec import Decoded
from macaw.isa.typed_records import NamedTuple


class Step(NamedTuple):
    """The change of a register in a loop, seen from one instruction of the loop."""

    by: int  # what each pass adds to it; 0 if the loop does not write it
    before: int  # what the present pass has added before the instruction


class Steps:
    """The general registers of a loop that change by a constant in each pass, or not at all.

    `loop` has the instructions of a pass, `written` the registers that each of them writes. Sums
    that wrap are not considered.
    """

    def __init__(self, loop: Sequence[Decoded], written: Sequence[Sequence[int]]) -> None:
        self._loop = loop
        self._writers: dict[int, list[int]] = {}  # by register: the instructions that write it
        for place in range(len(loop)):
            for register in written[place]:
                self._writers.setdefault(register, []).append(place)

    def of(self, register: int, place: int) -> Step | None:
        """Return by how much a register changes in a whole pass, and in the part before `place`.

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


def added(found: Decoded) -> int | None:
    """Return the constant that an instruction adds to its result register; None without one."""
    values = found.values
    is_sum = found.row.mnemonic == "addi" and values["rd"] == values["rs1"] != 0
    return values["imm"] if is_sum else None
