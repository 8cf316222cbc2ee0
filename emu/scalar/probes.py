"""The probes of a scalar core, with a look-up by instruction."""

from __future__ import annotations

from collections.abc import Iterable

from macaw.emu.breaks import Probe
from macaw.isa.codec import Decoded
from macaw.isa.model import Core as Table
from macaw.isa.touching import Place, touched_registers


class Probes:
    """A set of probes, and which of them the core must test after each instruction.

    A probe is a test for the debugger, made after instructions that read or write certain
    registers.
    """

    def __init__(self, table: Table, probes: Iterable[Probe] = ()) -> None:
        self.table = table
        self.all = tuple(probes)
        # by the id of the decoded instruction
        self._known: dict[int, tuple[Decoded, tuple[Probe, ...]]] = {}

    def of(self, found: Decoded) -> tuple[Probe, ...]:
        """Return the probes to test after an instruction."""
        if not self.all:
            return ()
        known = self._known.get(id(found))
        if known is None or known[0] is not found:
            reads, writes = touched_registers(self.table, found)
            about = tuple(
                probe
                for probe in self.all
                if (probe.reads and probe.registers & reads)
                or (probe.writes and probe.registers & writes)
            )
            known = self._known[id(found)] = found, about
        return known[1]

    def report_write(self, register: Place, address: int) -> None:
        """Test the probes of a register that is written when this core is started.

        `address` is the address of the core's next instruction.
        """
        for probe in self.all:
            if (
                probe.writes
                and register in probe.registers
                and (probe.test is None or probe.test())
            ):
                probe.met(address)
