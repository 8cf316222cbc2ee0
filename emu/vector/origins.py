"""Where registers and stored words of vc came from: pairs and orders are registers, too."""

from __future__ import annotations

from collections.abc import Iterator

from macaw.emu.scalar.origins import Named, Registers
from macaw.emu.vector.scoreboard import registers
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa.codec import Decoded
from macaw.isa.scalar import REGISTERS as GENERAL
from macaw.isa.vector_layouts import REGISTERS


class VectorRegisters(Registers):
    """Remembers the instructions of vc."""

    def operands(self, found: Decoded, names: str) -> Iterator[tuple[str, Named]]:
        """As of the scalar base; of a product without `acc` the old result takes no part."""
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
