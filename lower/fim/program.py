"""The source of a plan: cp queues copies and starts islands, the islands do the rest.

Copies stand in tables that cp walks; the dma counts its tickets, so cp knows whose inputs are
there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from numpy.typing import NDArray

from isa.config import Configuration
from isa.fim import CORE
from isa.fim_circuit import FORMATS, NumberFormat
from isa.fim_islands import geometry, island_address
from lower.errors import LowerError
from lower.fim.carry import ISLAND, LOCAL, Copy, Place
from lower.fim.copies import Route
from lower.fim.graph import Graph, Tensor
from lower.fim.job import Job, Phase, copies
from lower.fim.plan import BRING, FETCH, HOST, START, Plan, Step
from lower.listing import Listing

_FEW = 2  # copies that need no loop


@dataclass(frozen=True)
class LoweredGraph:
    """A source and the arrays that stand beside it, by file name."""

    source: str
    files: dict[str, NDArray[Any]] = field(default_factory=dict)


def emit(
    plan: Plan, graph: Graph, config: Configuration, device: str = "base", form: int = 0
) -> LoweredGraph:
    """The program of a plan; `device` is the name of the configuration, `form` the number format.

    Raises `LowerError` if islands or memory have not the room for all steps.
    """
    return _Writer(plan, graph, config, device, FORMATS[form]).written()


class _Writer:
    """A source on its way."""

    def __init__(
        self, plan: Plan, graph: Graph, config: Configuration, device: str, numbers: NumberFormat
    ) -> None:
        self.plan, self.graph, self.config, self.device = plan, graph, config, device
        self.numbers = numbers
        self.files: dict[str, NDArray[Any]] = {}
        self.code: list[str] = []
        self.tables: list[str] = []
        self.scratch: dict[str, int] = {}
        self.tickets = 0
        self.brought: dict[int, int] = {}  # the last ticket of a step's inputs
        self.rows = self._rows()
        self.phases: dict[int, list[Phase]] = {}
        self.labels = {name: f"t{number}" for number, name in enumerate(graph.tensors)}

    def _rows(self) -> dict[int, int]:
        """The first row of each step: steps of an island lie one behind the other."""
        found: dict[int, int] = {}
        used: dict[int, int] = {}
        words: dict[int, int] = {}
        rows = geometry(self.config).rows
        for step in self.plan.steps:
            job = step.option.how
            if step.option.island is None:
                continue
            island = step.option.island
            found[step.number] = used.get(island, 0)
            used[island] = found[step.number] + job.rows
            words[island] = words.get(island, 0) + job.words
            if used[island] > rows or words[island] > self.config["fim.instructions"]:
                raise LowerError(
                    f"the steps of island {island} do not fit into it: {used[island]} of {rows}"
                    f" rows, {words[island]} of {self.config['fim.instructions']} words",
                )
        return found

    def written(self) -> LoweredGraph:
        """The whole source."""
        out = Listing()
        out.comment(f"Tasks of a graph on the islands of {self.device}, by a plan of {self._size}.")
        self._tensors(out)
        for action in self.plan.actions:
            self._action(action.kind, self.plan.steps[action.step])
        out.block(".core cp\n.macro copies table, count\nla a0, \\table\nli a1, \\count")
        out.block("copy\\@: dma.copy zero, a0\naddi a0, a0, 24\naddi a1, a1, -1")
        out.block("bnez a1, copy\\@\n.endm")
        out.put("", label="_start")
        out.block("\n".join(self.code))
        out.block("dma.wait zero\nli a0, 0\nli a7, 93\necall")
        out.block(".data\n.balign 4")
        out.comment("destination, source, bytes of a row, rows, strides")
        out.block("\n".join(self.tables))
        self._data(out)
        self._islands(out)
        return LoweredGraph(out.text(), self.files)

    @property
    def _size(self) -> str:
        count = len(self.plan.steps)
        return f"{count} step{'s' * (count != 1)}, {self.plan.makespan} cycles as predicted"

    def _tensors(self, out: Listing) -> None:
        out.put(f".device {self.device}")
        made = {task.output.name for task in self.graph.tasks}
        last = {tensor.name for tensor in results(self.graph)}
        for tensor in self.graph.tensors.values():
            if tensor.name in made and tensor.name not in last:
                continue
            if tensor.data is not None:
                continue
            kind = ".output" if tensor.name in last else ".input"
            name = self.labels[tensor.name] = tensor.name
            out.put(f"{kind} {name}, {self.numbers.dtype}, {tensor.rows}, {tensor.columns}")

    def _action(self, kind: str, step: Step) -> None:
        if kind == HOST:
            self._copies(step, f"h{step.number}", step.option.how.phases()[0].bring)
            return
        job: Job = step.option.how
        phases = self.phases.setdefault(step.number, list(job.phases(self.rows[step.number])))
        if kind == BRING:
            self._copies(step, f"b{step.number}", phases[0].bring)
            self.brought[step.number] = self.tickets
        elif kind == START:
            self._start(step)
            for number, (phase, after) in enumerate(pairwise(phases)):
                self._copies(step, f"f{step.number}_{number}", phase.fetch)
                self._copies(step, f"b{step.number}_{number + 1}", after.bring)
                self.brought[step.number] = self.tickets
                self._start(step)
        else:
            assert kind == FETCH
            self._copies(step, f"f{step.number}", phases[-1].fetch)

    def _start(self, step: Step) -> None:
        island = step.option.island
        assert island is not None
        self.code += [
            f"li a0, {self.brought[step.number]}",
            "dma.wait a0",
            f"li a0, {CORE.number + island} # island {island}",
            f"la a1, blocks{step.number}",
            "core.start a0, a1",
        ]

    # --- copies ---

    def _copies(self, step: Step, name: str, routes: Sequence[Route]) -> None:
        """Queue copies, and write their table."""
        several = copies(tuple(routes))
        if not several:
            return
        for route in routes:
            for symbol, size in route.scratch.items():
                label = self._scratch(step, symbol)
                self.scratch[label] = max(size, self.scratch.get(label, 0))
        self.tables.append(f"{name}:")
        self.tables += [self._words(step, copy) for copy in several]
        self.tickets += len(several)
        if len(several) <= _FEW:
            for number in range(len(several)):
                self.code += [f"la a0, {name} + {24 * number}", "dma.copy zero, a0"]
        else:
            self.code.append(f"copies {name}, {len(several)}")

    def _words(self, step: Step, copy: Copy) -> str:
        dst, src = (self._place(step, place) for place in (copy.dst, copy.src))
        return f".word {dst}, {src}, " + ", ".join(map(str, copy.words()))

    def _place(self, step: Step, place: Place) -> str:
        if place.memory == ISLAND:
            return f"{island_address(place.island) + place.offset:#x}"
        if place.memory == LOCAL:
            name = self._scratch(step, place.symbol)
        else:
            name = self.labels.get(place.symbol) or self._file(step, place.symbol)
        return f"{name} + {place.offset}" if place.offset else name

    @staticmethod
    def _scratch(step: Step, symbol: str) -> str:
        return f"s{step.number}_{symbol.rpartition('.')[2]}"

    @staticmethod
    def _file(step: Step, symbol: str) -> str:
        return f"c{step.number}_{symbol.partition('.')[0]}"

    def _data(self, out: Listing) -> None:
        """Constants, tensors between steps, and local memory that copies go through."""
        for step in self.plan.steps:
            for symbol, array in step.option.how.files().items():
                name = self._file(step, symbol)
                self.files[f"{name}.npy"] = array
                out.block(f'.balign 64\n{name}: .npy "{name}.npy"')
        for tensor in self._between():
            size = tensor.rows * tensor.columns * self.numbers.size
            out.block(f".balign 64\n{self.labels[tensor.name]}: .skip {size} # {tensor.name}")
        if self.scratch:
            out.block(".section .data.cp")
            for name, size in self.scratch.items():
                out.block(f".balign 64\n{name}: .skip {size}")

    def _between(self) -> Iterable[Tensor]:
        last = {tensor.name for tensor in results(self.graph)}
        done = {task.output.name for step in self.plan.steps for task in step.tasks[-1:]}
        return [self.graph.tensors[name] for name in self.labels if name in done - last]

    def _islands(self, out: Listing) -> None:
        for island in range(self.config["fim.islands"]):
            steps = [step for step in self.plan.steps if step.option.island == island]
            if not steps:
                continue
            out.put(f".core fim, island={island}")
            for place, step in enumerate(steps):
                if place:
                    out.put("endall")
                label = f"blocks{step.number}"
                for block in step.option.how.blocks(self.rows[step.number]):
                    out.block("\n".join(block.lines(label)))
                    label = ""


def results(graph: Graph) -> list[Tensor]:
    """The tensors that a graph gives: those that nobody reads."""
    named = getattr(graph, "results", None)
    if named is not None:
        return list(named())
    read = {tensor.name for task in graph.tasks for tensor in task.inputs}
    return [task.output for task in graph.tasks if task.output.name not in read]
