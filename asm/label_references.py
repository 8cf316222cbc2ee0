"""References to labels in words and numbers that are assembled without the parser."""

from __future__ import annotations

from macaw.asm.operand_encoder import OperandEncoder
from macaw.isa.typed_records import NamedTuple


class LocalReference(NamedTuple):
    """A use of a local label, `1b` or `1f`.

    `number` is the label's number, `ordinal` the ordinal of the statement that uses the label, and
    `forward` is true for `1f`.
    """

    number: int
    ordinal: int
    forward: bool

    def __str__(self) -> str:
        """Return the reference as in a source."""
        return f"{self.number}{'f' if self.forward else 'b'}"


# A reference to a label: the offset in the area of the word or number that contains it, the word's
# known bits, the encoder of the operand, %hi or %lo, the label, and the source offset of the line.
# For a number as data: the index of its operand instead of the bits, its size instead of the
# encoder.
Item = tuple[int, int, OperandEncoder | int, str, str | LocalReference, int]
