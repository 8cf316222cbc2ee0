"""The part class that scalar cores share: it pads alignments with instructions."""

from __future__ import annotations

from macaw.asm.core_part import CorePart
from macaw.asm.directive import Directive
from macaw.asm.forms.scalar_insn import place_insn
from macaw.isa import codec, scalar

_HALF_NOP = (0x01).to_bytes(2, "little")  # GNU as fills two bytes with a compressed nop


_INSN = Directive(
    scalar.INSN.name,
    scalar.INSN.syntax,
    scalar.INSN.meaning,
    place_insn,
    example=scalar.INSN.example,
)


class ScalarPart(CorePart):
    """A part of a core whose table contains the rows of `macaw.isa.scalar`."""

    def __post_init__(self) -> None:
        self.directives = {_INSN.name: _INSN}

    def padding(self, count: int) -> bytes:
        """Return `count` fill bytes as GNU as makes them.

        They are a zero byte if `count` is odd, then a nop of two bytes if two or three bytes are
        left over from a multiple of four, then nops of four bytes.
        """
        addi = next(row for row in self.core.instructions if row.mnemonic == "addi")
        word = codec.encode(addi, {"rd": 0, "rs1": 0, "imm": 0})  # which is nop
        nop = word.to_bytes(addi.format.size, "little")
        return bytes(count & 1) + _HALF_NOP * (count >> 1 & 1) + nop * (count // len(nop))


PART = ScalarPart
