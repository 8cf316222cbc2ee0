"""The accountant of cp: it charges each cycle of cp to a cause."""

from __future__ import annotations

from collections import Counter

from macaw.emu.accountant import Accountant
from macaw.emu.core import Core, Event
from macaw.emu.scalar.accountant import ScalarAccountant
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.semantics import MASK
from macaw.isa.dma import TRANSFER

_ERRAND = {"rd", "pc", "dma", "memory"}  # what instructions write that may only serve a transfer


class CpAccountant(ScalarAccountant):
    """Charges the cycles of cp, and finds the instructions that only prepare transfers of the dma.

    `dma.copy` starts a transfer, whose description is in memory. The instructions between two
    executions of the same `dma.copy` only prepare the second transfer under three conditions. They
    read no data. They write only the description to memory. They command no other core.
    """

    def __init__(self, core: ScalarCore) -> None:
        super().__init__(core)
        self.executed: Counter[int] = Counter()  # executions by address
        # by address of a dma.copy: the executions, by address, that only serve its transfers
        self.served: dict[int, Counter[int]] = {}
        self.latest = -1  # address of the latest dma.copy
        self.since: Counter[int] = Counter()  # executions after it
        self.is_errand = False  # whether these only serve a transfer, as far as is known
        self.stores: list[tuple[int, int]] = []  # begins and ends of the bytes that they wrote

    def hear(self, event: Event) -> None:
        super().hear(event)
        if event.kind == "read":
            self.is_errand = False
        elif event.kind == "write":
            begin = int(event.values["address"])
            self.stores.append((begin, begin + int(event.values["size"])))
        elif event.kind == "instruction" and self.address is not None:
            self._note_instruction(self.address)

    def _note_instruction(self, address: int) -> None:
        found = self.core.decoder.fetch(address)
        written = set(found.row.writes.split())
        self.executed[address] += 1
        self.is_errand = self.is_errand and written <= _ERRAND
        if self.is_errand:
            self.since[address] += 1
        else:
            self.stores.clear()
        if "dma" not in written:
            return
        begin = self.core.x[found.values["rs1"]] & MASK
        end = begin + TRANSFER.size
        only_describes = all(begin <= first and last <= end for first, last in self.stores)
        if self.is_errand and only_describes and self.latest == address:
            self.served.setdefault(address, Counter()).update(self.since)
        self.latest, self.is_errand = address, True
        self.since.clear()
        self.stores.clear()

    def close(self, cycles: int) -> None:
        super().close(cycles)
        self.errands = {
            address: {place: count / self.executed[place] for place, count in counts.items()}
            for address, counts in self.served.items()
        }


def make(core: Core) -> Accountant:
    """Return a new accountant of cp."""
    assert isinstance(core, ScalarCore)
    return CpAccountant(core)
