"""Runs plans in which copies bring constants in advance, and observes these copies in the run.

`planned` makes a plan from chosen options, so that a test decides which island does what.
`observed` runs a program. The cycles of the transfers, and the bytes in the banks when blocks
start, come from the emulator; the plan only says which transfer copies what.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from macaw import execution
from macaw.asm.program import Program
from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.execution import Run
from macaw.fim_lowering import GraphLowering
from macaw.fim_step_recorder import MeasuredStep, StepRecorder
from macaw.isa.config import Configuration
from macaw.isa.fim_islands import island_address
from macaw.lowering.fim import residency
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, Copy
from macaw.lowering.fim.graph import Graph, Task
from macaw.lowering.fim.island_job import copies
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import (
    BRING,
    FETCH,
    HOST,
    PREFETCH,
    START,
    GraphPlan,
    Option,
    Step,
)
from macaw.lowering.fim.planning import Planner
from macaw.lowering.fim.prefetch_search import best_times
from tests.lowering.fim.running import modelled


def best(
    tasks: Sequence[Task],
    config: Configuration,
    island: int | None = None,
    place: BankRows | None = None,
    layouts: Sequence[int] = range(8),
    results: Sequence = (),
) -> Option:
    """The option of an island (or of any island) that takes the fewest cycles."""
    found = [
        row
        for row in options(tasks, config, place=place, results=results)
        if isinstance(row, Option) and row.layout in layouts
    ]
    return min((x for x in found if island in (None, x.island)), key=lambda option: option.total)


def planned(
    graph: Graph, chosen: Sequence[Option], config: Configuration, rows: BankRows | None = None
) -> GraphLowering:
    """The program that issues chosen options in this order, with constants in advance.

    `rows` has the rows that are reserved for constants that stay, if there are such.
    """
    rows = rows or BankRows(config["fim.rows"])
    track = simulate(chosen)
    steps = tuple(Step(number, option) for number, option in enumerate(track.options))
    plan = GraphPlan(
        graph, residency.with_rows(steps, rows.rows), tuple(track.actions), track.clock.end,
        issued=tuple(track.issued), holders=track.holders,
    )  # fmt: skip
    return written(best_times(plan, config, rows.shared), config)


def written(plan: GraphPlan, config: Configuration) -> GraphLowering:
    """The program of a plan with exact times."""
    files = Planner(config, "g")._write_program(plan)
    return GraphLowering("g", plan.graph, config, plan, files)


@dataclass
class Transfer:
    """A transfer of the dma in a run, and the copy of the plan that it makes."""

    kind: str  # of the plan's action
    step: int
    begin: int
    end: int = 0
    constants: bool = False
    banks: list[tuple[int, bytes]] = field(default_factory=list)  # what it writes to banks


@dataclass
class Observation:
    """A run: its results, the transfers of the dma, and the cycles of each step's blocks."""

    run: Run
    transfers: list[Transfer]
    steps: dict[int, MeasuredStep]

    def early(self, step: int) -> tuple[int, int]:
        """The cycles in which the copies of a step's constants in advance began and ended."""
        mine = [x for x in self.transfers if (x.kind, x.step) == (PREFETCH, step)]
        return mine[0].begin, mine[-1].end


class _Recorder:
    """Hears the dma and the islands; checks the constants in the banks when blocks start."""

    def __init__(self, found: GraphLowering, program: Program) -> None:
        self.plan = found.plan
        self.due: Iterator[tuple[str, int, Copy, bool]] = _copies(found.plan)
        self.transfers: list[Transfer] = []
        self.steps = StepRecorder(program)
        self.checked: set[int] = set()

    def begin(self, item: int, device: Device) -> None:
        self.device = device
        self.steps.begin(item, device)
        names = [name for name in device.cores if name.startswith("fim")]
        device.listen(self.hear_dma, ["dma"])
        device.listen(self.hear_island, names)

    def hear_dma(self, event: Event) -> None:
        if event.kind == "begin":
            kind, step, copy, constants = next(self.due)
            values = event.values
            assert [values[x] for x in ("row_bytes", "rows", "dst_stride", "src_stride")] == [
                *copy.words()
            ]
            made = Transfer(kind, step, event.core.state.began, constants=constants)
            if constants:
                assert copy.src.memory == EXTERNAL
                assert copy.dst.memory == ISLAND
                assert values["dst"] == island_address(copy.dst.island) + copy.dst.offset
                made.banks = [*self._rows(values)]
            self.transfers.append(made)
        elif event.kind == "end":
            self.transfers[-1].end = event.time + 1

    def _rows(self, values) -> Iterator[tuple[int, bytes]]:
        for row in range(values["rows"]):
            source = values["src"] + row * values["src_stride"]
            data = self.device.memory.peek(source, values["row_bytes"])
            yield values["dst"] + row * values["dst_stride"], data

    def hear_island(self, _: Event) -> None:
        """At the first event of a step's blocks, compare its constants in the banks."""
        for step in self.steps.steps:
            if step.number in self.checked:
                continue
            self.checked.add(step.number)
            holder = self.plan.holders.get(step.number, step.number)
            brought = [x for x in self.transfers if x.step == holder and x.constants]
            assert all(x.end for x in brought)
            for place, data in (pair for x in brought for pair in x.banks):
                assert self.device.memory.peek(place, len(data)) == data, (step.number, place)


def _copies(plan: GraphPlan) -> Iterator[tuple[str, int, Copy, bool]]:
    """The copies in the order of a program.

    Each item has the kind of the action, the step, the copy, and whether it brings constants.
    """
    for action in plan.actions:
        step = plan.steps[action.step]
        phases = list(step.option.job.phases())
        first, last = phases[0], phases[-1]
        late = [(True, first.early), (False, first.late)]
        routes = {
            PREFETCH: [(True, first.early)],
            BRING: late if plan.needs_constants(step) else late[1:],
            FETCH: [(False, last.fetch)],
            HOST: [(False, first.bring)],
            START: [
                (False, part)
                for one, after in pairwise(phases)
                for part in (one.fetch, after.bring)
            ],
        }
        for constants, several in routes[action.kind]:
            for copy in copies(tuple(several)):
                yield action.kind, action.step, copy, constants


def observed(found: GraphLowering, seed: int = 0, exact: bool = True) -> Observation:
    """Run a program with random inputs; check bits, constants in the banks and, if `exact`, cycles.

    The bits are those of the NumPy model. The constants of each step are compared when its blocks
    start. `exact` says that all cycles equal the predicted ones.
    """
    program = found.assemble()
    recorder = _Recorder(found, program)
    given = found.random_inputs(seed)
    run = execution.run(program, given, on_start=recorder.begin)
    for name, wanted in modelled(found.plan, found.graph, given).items():
        np.testing.assert_array_equal(run.outputs[name], wanted)
    assert next(recorder.due, None) is None
    steps = {step.number: step for step in recorder.steps.steps}
    assert recorder.checked == steps.keys()
    seen = Observation(run, recorder.transfers, steps)
    if exact:
        assert run.cycles == found.cycles
        check_times(found, seen)
    return seen


def check_times(found: GraphLowering, seen: Observation) -> None:
    """Check what copies of constants in advance must do, by the cycles of the run.

    They take the predicted cycles. They end before the step that needs them starts. No blocks run
    on their island meanwhile.
    """
    for number in found.plan.prefetched:
        copied = found.plan.action(PREFETCH, number)
        begin, end = seen.early(number)
        assert (begin, end) == (copied.begin, copied.end)
        assert end <= seen.steps[number].begin
        for other in seen.steps.values():
            if other.island == seen.steps[number].island:
                assert other.end <= begin or end <= other.begin, (number, other)


def overlapping(seen: Observation, number: int) -> bool:
    """Whether blocks of another island run while the constants of a step come in advance."""
    begin, end = seen.early(number)
    return any(
        step.begin < end and begin < step.end and step.island != seen.steps[number].island
        for step in seen.steps.values()
    )
