"""What the parts of all scalar cores share: the padding of alignments."""

from __future__ import annotations

from macaw.asm.core_part import CorePart
from macaw.isa import codec

_HALF_NOP = (0x01).to_bytes(2, "little")  # GNU as fills two bytes with a compressed nop


class ScalarPart(CorePart):
    """A part of a core that uses the rows of `macaw.isa.scalar`."""

    def padding(self, count: int) -> bytes:
        """Return the fill of an alignment as GNU as makes it: filler bytes, then whole nops."""
        addi = next(row for row in self.core.instructions if row.mnemonic == "addi")
        word = codec.encode(addi, {"rd": 0, "rs1": 0, "imm": 0})  # which is nop
        nop = word.to_bytes(addi.format.size, "little")
        return bytes(count & 1) + _HALF_NOP * (count >> 1 & 1) + nop * (count // len(nop))


PART = ScalarPart
