"""Finds the registers that an instruction reads and writes, from `reads` and `writes` of its row.

Each word in `reads` or `writes` is the name of an operand, a register, a register file or other
state. If an operand selects one of several registers, a row may name all of these registers in
place of the operand. The result then has only the selected one: `reads` of `push` names rz, gio and
rop, but `push rz` reads only rz.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from macaw.isa.codec import Decoded
from macaw.isa.model import Core
from macaw.isa.typed_records import NamedTuple

Place = tuple[str, int]  # a register: its file and its number in the file


class TouchedRegisters(NamedTuple):
    """The registers that an instruction reads, and the registers that it writes."""

    reads: frozenset[Place]
    writes: frozenset[Place]


def touched_registers(core: Core, instruction: Decoded) -> TouchedRegisters:
    """Return the registers that an instruction of a core reads and writes.

    Registers that the instruction uses only under some conditions are included.
    """
    return TouchedRegisters(
        frozenset(_places(core, instruction, instruction.row.reads.split(), False)),
        frozenset(_places(core, instruction, instruction.row.writes.split(), True)),
    )


def _places(
    core: Core, instruction: Decoded, words: Sequence[str], written: bool
) -> Iterator[Place]:
    names = _names(core)
    chosen: set[str] | None = None
    row = instruction.row
    spoken = {*row.reads.split(), *row.writes.split()}
    for operand in row.operands:
        about = operand.kind.stands_for(instruction.values[operand.name], written)
        if about is None:
            continue
        if operand.name in words:
            yield from (names[name] for name in about if name in names)
        elif operand.name not in spoken:
            chosen = {*(chosen or ()), *about}
    for word in words:
        named = [word] if word in names else [x for x, place in names.items() if place[0] == word]
        yield from (names[name] for name in named if chosen is None or name in chosen)


@cache
def _names(core: Core) -> Mapping[str, Place]:
    """Return the (file, number) of each register of a core, by each of its names."""
    return {
        name: (file.name, number)
        for file in core.files
        for number, names in enumerate(file.names)
        for name in names
    }
