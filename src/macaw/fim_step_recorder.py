"""When an island really did which step of a lowered graph: a listener to its blocks' words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from macaw.asm.program import Program
from macaw.isa.fim import CORE
from macaw.isa.fim_circuit import ISLANDS
from macaw.lowering.fim.program import BLOCKS

if TYPE_CHECKING:
    from macaw.emu.core import Event
    from macaw.emu.device import Device


@dataclass
class Watched:
    """A step as it ran: the number in its label, its island, begin and end of its blocks."""

    number: int
    island: int
    begin: int
    end: int


class Watch:
    """Give `begin` to `running.run` as `on_start`; then `steps` are there, by their begin."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._labels: dict[int, int] = {}  # the step of an address
        self._found: dict[int, Watched] = {}

    @property
    def steps(self) -> list[Watched]:
        """The steps that islands have done."""
        return sorted(self._found.values(), key=lambda step: (step.begin, step.number))

    def begin(self, _item: int, device: Device) -> None:
        """Listen to the islands."""
        numbers = range(CORE.number, CORE.number + ISLANDS)
        device.listen(
            self._heard, [name for name, core in device.cores.items() if core.number in numbers]
        )

    def _heard(self, event: Event) -> None:
        if event.kind not in ("instruction", "done"):
            return
        address = int(event.values["address"])
        if address not in self._labels:
            found = self._program.symbol_at(address)
            label = found[0].name.removeprefix(BLOCKS) if found else ""
            self._labels[address] = int(label) if label.isdigit() else -1
        number = self._labels[address]
        if number < 0:
            return
        end = int(event.values.get("until", event.time))
        if number not in self._found:
            island = event.core.number - CORE.number
            self._found[number] = Watched(number, island, event.time, end)
        self._found[number].end = max(self._found[number].end, end)
