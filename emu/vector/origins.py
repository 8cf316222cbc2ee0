"""Finds the origins of registers and stored words of vc.

The origins are found as for other scalar cores, but an operand may also be a pair of registers or a
permutation.
"""

from __future__ import annotations

from collections.abc import Iterator

from macaw.emu.scalar.origins import Named, RegisterOrigins
from macaw.emu.vector.scoreboard import registers
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa.codec import Decoded
from macaw.isa.scalar import REGISTERS as GENERAL
from macaw.isa.vector_layouts import REGISTERS


class VectorOrigins(RegisterOrigins):
    """The record of vc's instructions, which finds the origins of values in the record."""

    def operands(self, found: Decoded, names: str) -> Iterator[tuple[str, Named]]:
        """Yield the operands of an instruction that are registers, as (operand, (file, number)).

        `names` has the names of the wanted operands, with spaces between them; others are left out.
        A product without `acc` does not read its destination, so the method leaves that operand
        out.
        """
        wanted = names.split()
        if found.values.get("acc") == 0 and names == found.row.reads:
            wanted.remove("rd")
        for operand in found.row.operands:
            if operand.name in wanted:
                for place in registers(operand.kind, found.values[operand.name]):
                    if place < FIRST_VECTOR:
                        yield operand.name, (GENERAL.name, place)
                    else:
                        yield operand.name, (REGISTERS.name, place - FIRST_VECTOR)
