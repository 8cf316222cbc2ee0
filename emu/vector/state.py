"""The declared state of vc, in addition to the state of a scalar core."""

from __future__ import annotations

from macaw.emu.state import StateField
from macaw.isa.scalar import REGISTERS as GENERAL
from macaw.isa.vector_layouts import REGISTERS, VECTOR_BYTES

VECTORS = len(REGISTERS.names)
# Places on the scoreboard: general registers, vector registers, stores that are not complete.
FIRST_VECTOR = len(GENERAL.names)
STORES = FIRST_VECTOR + VECTORS
PLACES = STORES + 1

# fmt: off
FIELDS = (
    StateField("vr",              "uint8", (VECTORS, VECTOR_BYTES), "vector registers, lowest byte first"),
    StateField("ready",           "int64", (PLACES,), "scoreboard: cycle from which each register can be read or written, then that of the last store; 0 if it is past"),
    StateField("cycles_operands", "int",   (),        "cycles in which the next instruction waited for a register"),
    StateField("cycles_memory",   "int",   (),        "cycles in which an access waited until the memory took it"),
    StateField("cycles_branches", "int",   (),        "cycles lost to branches and jumps"),
    StateField("products",        "int",   (),        "products of pmac"),
)
# fmt: on
