"""Control and status registers of a scalar core."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from macaw.emu.faults import Fault
from macaw.isa import trace
from macaw.isa.scalar import CSR

if TYPE_CHECKING:
    from macaw.emu.scalar.hart import Hart

_MASK = 0xFFFF_FFFF

# Values by the names of `macaw.isa.scalar.SPECIALS`. The time of an instruction is that of its
# begin.
_VALUES: dict[str, Callable[[Hart], int]] = {
    "cycle": lambda hart: hart.time // hart.divider,
    "time": lambda hart: hart.time // hart.divider,
    "instret": lambda hart: hart.retired,
    "cycleh": lambda hart: hart.time // hart.divider >> 32,
    "timeh": lambda hart: hart.time // hart.divider >> 32,
    "instreth": lambda hart: hart.retired >> 32,
    "mhartid": lambda hart: hart.number,
}


_TRACE = frozenset(row.address for row in trace.csrs())


class Csrs:
    """The registers that the core's table declares; of them those of the trace can be written."""

    def __init__(self, hart: Hart) -> None:
        self.hart = hart
        self._rows = {row.address: row for row in hart.table.specials}

    def read(self, address: int) -> int:
        """The value, 32 bits. Raises `Fault` (illegal instruction)."""
        row = self._rows.get(address)
        if row is None:
            raise self._refused(address, "does not exist")
        if address in _TRACE:
            return self._traced(row.name, address)
        return _VALUES[row.name](self.hart) & _MASK

    def write(self, address: int, value: int) -> None:
        """Raises `Fault`: illegal instruction, or a value that a parameter cannot have."""
        row = self._rows.get(address)
        if row is None or row.access != "rw":
            raise self._refused(address, "does not exist" if row is None else "is read-only")
        self.hart.write_trace(row.name, value)

    def _traced(self, name: str, address: int) -> int:
        """The value of a register of the trace block, in which this instruction has begun."""
        hart = self.hart
        if hart.tracing:
            hart.tally.began(hart.time)
        hart.flush()
        try:
            return hart.trace.read(name)
        except Fault as fault:
            raise self._refused(address, f"is of no group: {fault.message}") from None

    def _refused(self, address: int, reason: str) -> Fault:
        return Fault(
            "illegal instruction",
            f"the control and status register {CSR.format(address)} {reason}",
            {"csr": address},
        )
