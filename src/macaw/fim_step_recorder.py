"""Records in which cycles each island executes which step of a lowered graph."""

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
class MeasuredStep:
    """A step of a lowered graph that an island executed.

    `number` is the number in the step's label in the source. The step's first instruction began in
    cycle `begin`, and its last one ended in cycle `end`.
    """

    number: int
    island: int  # its number, from 0 on
    begin: int  # cycle in which the first instruction of the step began
    end: int  # cycle in which the last one ended


class StepRecorder:
    """Records which island executed which step of a lowered graph, and when.

    Pass the method `begin` as `on_start` to `execution.run`, then read `steps`.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._labels: dict[int, int] = {}  # the number of the step at an address; -1: none
        self._steps: dict[int, MeasuredStep] = {}

    @property
    def steps(self) -> list[MeasuredStep]:
        """The steps that islands executed, ordered by their starts."""
        return sorted(self._steps.values(), key=lambda step: (step.begin, step.number))

    def begin(self, _item: int, device: Device) -> None:
        """Register a listener at each island of `device`, before a run."""
        numbers = range(CORE.number, CORE.number + ISLANDS)
        device.listen(
            self._record, [name for name, core in device.cores.items() if core.number in numbers]
        )

    def _record(self, event: Event) -> None:
        if event.kind not in ("instruction", "done"):
            return
        address = int(event.values["address"])
        if address not in self._labels:
            symbol = self._program.symbol_at(address)
            label = symbol[0].name.removeprefix(BLOCKS) if symbol else ""
            self._labels[address] = int(label) if label.isdigit() else -1
        number = self._labels[address]
        if number < 0:
            return
        end = int(event.values.get("until", event.time))
        if number not in self._steps:
            island = event.core.number - CORE.number
            self._steps[number] = MeasuredStep(number, island, event.time, end)
        self._steps[number].end = max(self._steps[number].end, end)
