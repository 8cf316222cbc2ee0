"""The plan of a graph as data: the island, layout, order and predicted times of each task.

This module has only data: `options` and `schedule` make plans, `program` and `explain` use them.
Times are device cycles.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from macaw.isa.fim_circuit import ARRANGEMENT_NAMES
from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.bank_images import Residency
from macaw.lowering.fim.graph import Graph, Task, Tensor

PREFETCH, BRING, START, FETCH, HOST = "prefetch", "bring", "start", "fetch", "host"
COPIES = PREFETCH, BRING, FETCH  # kinds of actions that only copy


@dataclass(frozen=True)
class Option:
    """One way to do a task, or several tasks in one start of an island, with its cycles.

    The dma copies inputs into the banks (`bring` cycles), the island executes blocks (`compute`),
    and the dma copies results out of the banks (`fetch`). An option of the host has no island: its
    `compute` cycles are those of cp, its `bring` cycles those of the dma.

    If several islands share the tasks, `parts` has an option of each island, for a part of the
    result. Then `island` is the first of these islands, and the numbers of cycles are totals.
    """

    tasks: tuple[Task, ...]  # in the order of execution
    island: int | None
    layout: int  # the number of an arrangement
    bring: int  # cycles in which the dma copies inputs into the banks, including reordering
    compute: int  # cycles from the start of the blocks to their end
    fetch: int  # cycles in which the dma copies results out of the banks
    reorder: int = 0  # part of `bring`: cycles in which inputs are rearranged into tiles
    banks: int = 0  # mask of the banks in use, including those of buffers
    # Columns in the buffers between producer and consumer blocks (seed 004 ¶48-52); 0: one block.
    buffer: int = 0
    # Part of `bring` and of `fetch`: cycles in which cp waits until the dma's queue has taken the
    # last copy.
    bring_queue_wait: int = 0  # 0: the queue has room for all copies
    fetch_queue_wait: int = 0
    # Part of `bring`: cycles to copy constants, which can come before the other inputs, and cycles
    # until the dma's queue has taken these copies.
    constants: int = 0
    constants_queue_wait: int = 0
    # the constants and their places, an object of `placed_constants`
    placed: Hashable = field(default=None, compare=False)
    # Part of `compute`: cycles until the last start; until then cp and dma serve only this step.
    until_last_start: int = 0
    # Cycles of cp until the dma has the first copy, and from the last input until the blocks start.
    issue_copies: int = 0
    issue_start: int = 0
    reopen: int = 0  # more cycles of `bring` if the banks have other rows open
    # How many cycles less `bring`, `compute`, `fetch` and `constants` can take after other steps,
    # at most.
    slack: tuple[int, ...] = (0, 0, 0, 0)
    residency: Residency | None = None  # None: copies bring the constants
    # If several islands share the tasks: the options of these islands, each for a part of the
    # result.
    parts: tuple[Option, ...] = ()
    job: Any = field(default=None, compare=False)  # tilings and other data for the program
    outputs: tuple[Tensor, ...] = ()  # what is stored if it is not the last task's output alone

    @property
    def total(self) -> int:
        """The sum of `bring`, `compute` and `fetch`, in cycles."""
        return self.bring + self.compute + self.fetch

    @property
    def quickest(self) -> Option:
        """This option with the least cycles that it can take, whichever steps come before.

        Its `bring` leaves out the copies of constants, which can be in the banks already.
        """
        bring, compute, fetch, early = self.slack
        constants = self.constants - early
        return replace(
            self,
            bring=self.bring - bring - constants,
            compute=self.compute - compute,
            fetch=self.fetch - fetch,
            constants=constants,
            slack=(0, 0, 0, 0),
            parts=tuple(part.quickest for part in self.parts),
        )

    @property
    def late(self) -> Option:
        """This option, with its constants always copied together with its other inputs.

        `constants` is 0, and `bring` still has the cycles of all copies.
        """
        parts = tuple(part.late for part in self.parts)
        return replace(self, constants=0, slack=(*self.slack[:3], 0), parts=parts)

    @property
    def task(self) -> Task:
        """The last task; the earlier tasks of the option compute its operands."""
        return self.tasks[-1]

    @property
    def results(self) -> tuple[Tensor, ...]:
        """The tensors that the option stores in external memory."""
        return self.outputs or (self.task.output,)

    @cached_property
    def reads(self) -> tuple[tuple[str, int, int], ...]:
        """The numbers that the tasks read, without constants.

        Each item is (name of a memory, index of the first number, index after the last number).
        """
        inputs = (x for task in self.tasks for x in task.inputs if x.data is None)
        return tuple(dict.fromkeys(map(_indices, inputs)))

    @cached_property
    def writes(self) -> tuple[tuple[str, int, int], ...]:
        """The numbers of the tensors in `results`.

        Each item is (name of a memory, index of the first number, index after the last number).
        """
        return tuple(map(_indices, self.results))

    @property
    def pair(self) -> bool:
        """Whether producer and consumer blocks do the tasks."""
        return self.buffer > 0

    @property
    def name(self) -> str:
        """The island (or several) and the layout, or the host, as a text for messages."""
        if self.island is None:
            return "the host"
        if self.parts:
            return " and ".join(part.name for part in self.parts)
        return f"island {self.island} by {ARRANGEMENT_NAMES[self.layout]}"


def _indices(tensor: Tensor) -> tuple[str, int, int]:
    name, first, count = tensor.place
    return name, first, first + count


@dataclass(frozen=True)
class Refusal:
    """The reason why an island (or the host, if `island` is None) cannot do tasks in a layout.

    `exceeds_memory` says whether the tasks need more rows or words than the island has for them.
    """

    tasks: tuple[Task, ...]
    island: int | None
    layout: int
    why: str
    exceeds_memory: bool = False  # the tasks take more rows or words than the island has for them


@dataclass(frozen=True)
class Step:
    """An option in a plan; `number` is its index in `GraphPlan.steps`."""

    number: int
    option: Option

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of the step's option."""
        return self.option.tasks


class Action(NamedTuple):
    """An action of cp for a step: copy inputs, start, copy results, or do the task on the host.

    `prefetch` copies the constants of a step, and then `bring` copies only its other inputs. Both,
    and `fetch`, are queued at the dma, which makes copies one after the other. A copy waits
    while a block runs in its banks. `start` waits for its step's inputs and for the island. The
    copies of `host` are queued after those that fetch its inputs. Apart from this, cp waits only
    for room in the queue of the dma. `begin` is the predicted cycle in which cp issues the action,
    or in which the dma or the island starts it. A `start` ends when its blocks end.
    """

    kind: str
    step: int
    # the predicted cycle in which cp issues the action, or in which the dma or island starts it
    begin: int = 0
    end: int = 0  # the predicted cycle in which it ends; for `start` that of the blocks' end


@dataclass(frozen=True)
class GraphPlan:
    """The plan of a graph: steps and actions in the order of issue, with their predicted cycles.

    `makespan` is the predicted end of the plan; no plan with the options of this graph ends before
    cycle `least`. `issued` has the options in the order of issue; an option that several islands
    share has a step for each of them. `holders` maps a step to the earlier step whose
    constants, still in the banks, it uses again.

    `options_by_cost`, `refusals` and `separate_end` have one entry for each step; explanations use
    them. `separate_end` is for steps with several tasks. It is the cycle in which the plan would
    end if these tasks were done in two steps or in a step for each task: the earlier of the two
    ends. It is 0 if there is only one task, or if the tasks cannot be separated.
    """

    graph: Graph
    steps: tuple[Step, ...]
    actions: tuple[Action, ...]
    makespan: int  # predicted end of the plan
    options_by_cost: tuple[tuple[Option, ...], ...] = ()
    refusals: tuple[tuple[Refusal, ...], ...] = ()
    separate_end: tuple[int, ...] = ()
    # The options in the order of issue. One that several islands share has a step for each.
    issued: tuple[Option, ...] = ()
    least: int = 0  # no plan with the options of this graph ends before this cycle
    # By step: the earlier step whose constants in the banks it uses, so that no copies bring them.
    holders: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def prefetched(self) -> frozenset[int]:
        """The numbers of the steps whose constants are copied before their other inputs."""
        return frozenset(row.step for row in self.actions if row.kind == PREFETCH)

    def needs_constants(self, step: Step) -> bool:
        """Return whether the action `bring` of a step has to copy the step's constants, too.

        It need not if the constants are copied in advance, or if an earlier step has copied them.
        """
        return step.number not in self.prefetched and step.number not in self.holders

    def bring_cycles(self, step: Step) -> int:
        """Return the cycles of the copies of a step's `bring` action if the device is idle."""
        option = step.option
        return option.bring - (0 if self.needs_constants(step) else option.constants)

    def issued_index(self, step: Step) -> int:
        """Return the index in `issued` of the option that contains a step."""
        owners = [i for i, option in enumerate(self.issued) for _ in option.parts or (option,)]
        return owners[step.number]

    def action(self, kind: str, step: int) -> Action:
        """Return a step's action of kind `kind`; a step of the host has a single one, `host`."""
        return next(row for row in self.actions if (row.kind, row.step) == (kind, step))
