"""The scoreboard of vc: for which registers an instruction waits, and how long results take.

An instruction issues when all registers that it reads or writes are ready: it needs the values of
the registers that it reads, and results for the same register must arrive in program order. `csr`
and `system` instructions issue when all instructions before them are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from macaw.emu.scalar.timing import Timing as ScalarTiming
from macaw.emu.vector.state import FIRST_VECTOR, PLACES
from macaw.isa.codec import Decoded
from macaw.isa.kinds import Kind
from macaw.isa.scalar import REGISTER
from macaw.isa.vector import MARKER, XVC
from macaw.isa.vector_layouts import GENERAL, Order, Pair, VectorRegister

SERIAL = ("csr", "system")  # instruction families
SERVED = (*SERIAL, MARKER)  # families that `macaw.emu.scalar.services` executes
EVERYTHING = tuple(range(1, PLACES))


class Timing(ScalarTiming):
    """The latencies of instruction families in device cycles."""

    def __init__(self, config: Mapping[str, Any], name: str) -> None:
        super().__init__(config, name)
        vector = int(config[f"{name}.vector_cycles"]) * self.divider
        self.of_family |= {row.family: vector for row in XVC}
        division = int(config[f"{name}.vector_div_cycles"]) * self.divider
        self.of_family["vector division"] = division
        self.of_family["pmac"] = int(config[f"{name}.pmac_cycles"]) * self.divider


def registers(kind: Kind, value: int) -> tuple[int, ...]:
    """Return the scoreboard places of the registers that an operand of this kind and value names.

    There are none for x0 and for constants.
    """
    if isinstance(kind, VectorRegister):
        return (FIRST_VECTOR + value,)
    if isinstance(kind, Order):
        if value < GENERAL:
            return (FIRST_VECTOR + value,)
        first = value - GENERAL
        return _general((first, first + 1) if kind.paired else (first,))
    if isinstance(kind, Pair):
        return _general((value, value + 1))
    return _general((value,)) if kind == REGISTER else ()


def _general(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(number for number in numbers if number)


def waits(found: Decoded) -> tuple[int, ...]:
    """Return the scoreboard places that must be ready before the instruction issues."""
    if found.row.family in SERIAL:
        return EVERYTHING
    places = [x for operand in found.row.operands
              for x in registers(operand.kind, found.values[operand.name])]  # fmt: skip
    return tuple(dict.fromkeys(places))


def writes(found: Decoded) -> tuple[int, ...]:
    """Return the scoreboard places that the instruction writes."""
    written = found.row.writes.split()
    return tuple(
        place
        for operand in found.row.operands
        if operand.name in written
        for place in registers(operand.kind, found.values[operand.name])
    )
