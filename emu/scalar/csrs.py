"""The control and status registers of a scalar core: `read` and `write` access them by address."""

from __future__ import annotations

from macaw.emu.faults import Fault
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.special_values import VALUES
from macaw.isa import trace
from macaw.isa.scalar import CSR

_MASK = 0xFFFF_FFFF

_TRACE = frozenset(row.address for row in trace.csrs())


def read(core: ScalarCore, address: int) -> int:
    """Return the 32-bit value of the register `address`. Raises `Fault` (illegal instruction)."""
    row = core.specials.get(address)
    if row is None:
        raise _fault(address, "does not exist")
    if address in _TRACE:
        return _read_trace(core, row.name, address)
    return VALUES[row.name](core) & _MASK


def write(core: ScalarCore, address: int, value: int) -> None:
    """Set the register `address`, a parameter of the trace block; programs can write no other.

    Raises `Fault` for another register (illegal instruction), and for a value that the parameter
    cannot have.
    """
    row = core.specials.get(address)
    if row is None or row.access != "rw":
        raise _fault(address, "does not exist" if row is None else "is read-only")
    core.write_trace(row.name, value)


def _read_trace(core: ScalarCore, name: str, address: int) -> int:
    """Return the trace block's register `name`, which has the CSR address `address`.

    The value already counts the instruction that reads the register as begun. Raises `Fault`
    (illegal instruction) if the register belongs to no group.
    """
    if core.tracing:
        core.tally.begin_instruction(core.time)
    core.flush_tally()
    try:
        return core.trace.read(name)
    except Fault:
        raise _fault(address, f"is of no group: {core.trace.size}") from None


def _fault(address: int, reason: str) -> Fault:
    return Fault(
        "illegal instruction",
        f"the control and status register {CSR.format(address)} {reason}",
        {"csr": address},
    )
