"""Plans: which island does which task in which layout, in what order, and when by prediction.

Data alone, between those who make it (`options`, `schedule`) and those who use it (`program`,
`explain`). Cycles are the device's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from macaw.isa.fim_circuit import ARRANGEMENT_NAMES
from macaw.lowering.fim.graph import Graph, Task

BRING, START, FETCH, HOST = "bring", "start", "fetch", "host"


@dataclass(frozen=True)
class Home:
    """Where a tensor lies: in external memory row by row, or as what `how` says.

    A constant (`Tensor.data`) has none: the lowering lays it out as its task wants it.
    """

    how: Any = None  # None: row by row


ROWS = Home()


@dataclass(frozen=True)
class Option:
    """One way to do a task, or several tasks at one start of an island, with its cycles.

    `tasks` are in their order. If they are two blocks that work at once, `buffer` has the columns
    of the buffer between them (seed 004 ¶48-52); else one block does them all. The host's options
    have no island: cp and dma do the task, `compute` cycles of cp and `bring` of the dma.
    """

    tasks: tuple[Task, ...]
    island: int | None
    layout: int  # an arrangement, by its number
    bring: int  # dma: inputs into the banks, those in another order included
    compute: int  # from the start of the blocks to their end
    fetch: int  # dma: results out of the banks
    reorder: int = 0  # of `bring`: what it takes more since inputs lie in another order
    banks: int = 0  # mask of the banks in use, buffers' included
    buffer: int = 0
    held_bring: int = 0  # of `bring` and `fetch`: from the first copy's begin until the dma's queue
    held_fetch: int = 0  # has taken the last one, and cp goes on (0: there is room for all)
    during: int = (
        0  # of `compute`: until the last of several starts, while cp and dma are this one's
    )
    how: Any = field(default=None, compare=False)  # tilings and whatever else the program needs

    @property
    def total(self) -> int:
        """All cycles, one after the other."""
        return self.bring + self.compute + self.fetch

    @property
    def task(self) -> Task:
        """The task whose output remains."""
        return self.tasks[-1]

    @property
    def pair(self) -> bool:
        """Whether it is a producer and a consumer."""
        return self.buffer > 0

    @property
    def name(self) -> str:
        """Where and how, in words."""
        if self.island is None:
            return "the host"
        return f"island {self.island} by {ARRANGEMENT_NAMES[self.layout]}"


@dataclass(frozen=True)
class Refusal:
    """Why an island cannot do tasks in a layout (`island` None: why the host cannot)."""

    tasks: tuple[Task, ...]
    island: int | None
    layout: int
    why: str


@dataclass(frozen=True)
class Step:
    """Tasks done by an option; `number` is its place in `Plan.steps`."""

    number: int
    option: Option

    @property
    def tasks(self) -> tuple[Task, ...]:
        """What it does."""
        return self.option.tasks


@dataclass(frozen=True)
class Action:
    """What cp issues, in order: copies of a step's inputs, its start, copies of its results.

    `bring` and `fetch` are queued at the dma, which does them one after the other and waits at the
    first whose banks have a running block; nobody waits for them but `start` (for its step's
    inputs) and `host` (for what its task reads). `start` waits for the island, too.
    """

    kind: str
    step: int
    begin: int = 0  # predicted: when the engine begins with it, waiting included
    end: int = 0  # of `start`: of the blocks


@dataclass(frozen=True)
class Plan:
    """Steps and actions in issue order, with the cycles they are predicted to take.

    The rest is for explanations, by the number of a step: its options, why others are none, and
    when the plan would end if a step's tasks were steps of their own (0: it has one alone, or they
    cannot be).
    """

    graph: Graph
    steps: tuple[Step, ...]
    actions: tuple[Action, ...]
    makespan: int  # predicted
    considered: tuple[tuple[Option, ...], ...] = ()
    refused: tuple[tuple[Refusal, ...], ...] = ()
    apart: tuple[int, ...] = ()

    @cached_property
    def made_by(self) -> dict[str, Step]:
        """The step that leaves each tensor in external memory, by the tensor's name."""
        return {step.option.task.output.name: step for step in self.steps}

    def action(self, kind: str, step: int) -> Action:
        """The action of a kind of a step; a host's step has `host` alone."""
        return next(row for row in self.actions if (row.kind, row.step) == (kind, step))
