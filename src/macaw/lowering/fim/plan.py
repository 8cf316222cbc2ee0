"""Plans for graphs: the island, layout, order and predicted times of each task.

Data alone: `options` and `schedule` make plans, `program` and `explain` use them. Times are device
cycles.
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
    """How a tensor is stored: row by row in external memory (`how` is None), or otherwise."""

    how: Any = None  # None: row by row


ROWS = Home()


@dataclass(frozen=True)
class Option:
    """One way to do a task, or several tasks in one start of an island, with its cycles.

    `tasks` are in their order. If a producer and a consumer do them, `buffer` has the columns of
    the buffer between the two (seed 004 ¶48-52); else one block does them all. An option of the
    host has no island: `compute` counts cycles of cp, `bring` those of the dma.
    """

    tasks: tuple[Task, ...]
    island: int | None
    layout: int  # an arrangement, by its number
    bring: int  # cycles of the dma: inputs into the banks, reordering included
    compute: int  # from the start of the blocks to their end
    fetch: int  # cycles of the dma: results out of the banks
    reorder: int = 0  # part of `bring`: cycles for bringing inputs into the order of tiles
    banks: int = 0  # mask of the banks in use, buffers' included
    buffer: int = 0
    # Of `bring` and `fetch`: cycles until the dma's queue has taken the last copy, when cp goes on.
    bring_queue_wait: int = 0  # 0: the queue has room for all copies
    fetch_queue_wait: int = 0
    # Of `compute`: cycles until the last start; cp and dma serve this step alone until then.
    until_last_start: int = 0
    job: Any = field(default=None, compare=False)  # tilings and other data for the program

    @property
    def total(self) -> int:
        """The cycles of all three parts."""
        return self.bring + self.compute + self.fetch

    @property
    def task(self) -> Task:
        """The last task, whose output is stored."""
        return self.tasks[-1]

    @property
    def pair(self) -> bool:
        """Whether a producer and a consumer do the tasks."""
        return self.buffer > 0

    @property
    def name(self) -> str:
        """The place and the layout, for messages."""
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
    """An option in a plan; `number` is its index in `GraphPlan.steps`."""

    number: int
    option: Option

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks that it does."""
        return self.option.tasks


@dataclass(frozen=True)
class Action:
    """An action of cp: copies of a step's inputs, its start, copies of its results, a host's step.

    `bring` and `fetch` are queued at the dma, which does them one after the other and waits at the
    first one whose banks have a running block. `start` waits for its step's inputs and for the
    island, `host` for what its task reads; cp waits for nothing else.
    """

    kind: str
    step: int
    begin: int = 0  # predicted: when cp issues it, or its engine turns to it
    end: int = 0  # for `start`: the end of the blocks


@dataclass(frozen=True)
class GraphPlan:
    """Steps and actions in the order of issue, with their predicted cycles.

    The other fields serve explanations. They list by step its options, the refusals, and when the
    plan would end if the step's tasks were separate steps (0: it has one task, or they cannot be).
    """

    graph: Graph
    steps: tuple[Step, ...]
    actions: tuple[Action, ...]
    makespan: int  # predicted
    options_by_cost: tuple[tuple[Option, ...], ...] = ()
    refusals: tuple[tuple[Refusal, ...], ...] = ()
    separate_end: tuple[int, ...] = ()

    @cached_property
    def made_by(self) -> dict[str, Step]:
        """The step that stores each tensor in external memory, by the tensor's name."""
        return {step.option.task.output.name: step for step in self.steps}

    def action(self, kind: str, step: int) -> Action:
        """Return the action of a kind of a step; a step of the host has `host` alone."""
        return next(row for row in self.actions if (row.kind, row.step) == (kind, step))
