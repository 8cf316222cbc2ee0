"""The declared state that a scalar core has in addition to the state of every core."""

from __future__ import annotations

from macaw.emu.scalar.semantics import MASK
from macaw.emu.state import StateField

# fmt: off
FIELDS = (
    StateField("pc",      "int",    (),    "address of the next instruction"),
    StateField("x",       "uint32", (32,), "general registers; x[0] is always 0"),
    StateField("pending", "object", (),    "the access to on-chip memory under way: rd, bytes, signed; of a store None, 0, False"),
)
# fmt: on


def sign_extend(value: int, size: int, is_signed: bool) -> int:
    """Return the 32 bits of a register after a load of `value`, a number of `size` bytes.

    The number is sign-extended if `is_signed`, otherwise zero-extended.
    """
    sign = 1 << 8 * size - 1
    return (value ^ sign) - sign & MASK if is_signed else value
