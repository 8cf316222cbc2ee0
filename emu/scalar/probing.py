"""Probes of a scalar core: which of them are about an instruction, and asking them behind it.

Instructions with probes stand in no run of acts and, where they branch or jump, in no translated
block: they go the plain way. In a block probes are text (`Translator`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.isa.touching import touched

if TYPE_CHECKING:
    from macaw.emu.breaks import Probe
    from macaw.emu.scalar.hart import Hart
    from macaw.isa.codec import Decoded
    from macaw.isa.touching import Place


class Probing:
    """Asks the probes of one core."""

    def __init__(self, hart: Hart) -> None:
        self.hart = hart
        self.doing: Decoded | None = None  # the instruction in the plain way, if it is known
        self._known: dict[int, tuple[Decoded, tuple[Probe, ...]]] = {}  # by id

    def changed(self) -> None:
        """The core has other probes."""
        self.doing = None
        self._known.clear()

    def of(self, found: Decoded) -> tuple[Probe, ...]:
        """The probes that are asked behind an instruction."""
        if not self.hart.probes:
            return ()
        known = self._known.get(id(found))
        if known is None or known[0] is not found:
            reads, writes = touched(self.hart.table, found)
            about = tuple(
                probe
                for probe in self.hart.probes
                if (probe.reads and probe.registers & reads)
                or (probe.writes and probe.registers & writes)
            )
            known = self._known[id(found)] = found, about
        return known[1]

    def behind(self) -> None:
        """The instruction at `pc` has done what it does."""
        hart = self.hart
        for probe in self.of(self.doing or hart.code.fetch(hart.pc)):
            if probe.test is None or probe.test():
                if hart.device.acting is hart:
                    hart.device.cycle = hart.time
                hart.ask()
                probe.met(hart.pc)

    def started(self, place: Place) -> None:
        """Another core has started this one, which sets a register."""
        for probe in self.hart.probes:
            if probe.writes and place in probe.registers and (probe.test is None or probe.test()):
                probe.met(self.hart.pc)
