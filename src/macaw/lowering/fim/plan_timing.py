"""Predicts the times of a chosen plan, action by action.

`macaw.lowering.fim.clock` adds the cycles of the options, each predicted for the option alone.
That module is fast enough for a search. This module follows one plan: each instruction of cp, each
copy and each block, with the state in which earlier steps leave the banks. So its times include
the effects of open rows, and of copies that the dma makes while blocks run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from macaw.emu.rules.fim_dram import align_up
from macaw.isa.config import Configuration
from macaw.lowering.fim.bank_timing import BankTiming
from macaw.lowering.fim.blocks_timing import BlocksTiming, blocks_timing
from macaw.lowering.fim.dma_timing import DmaTiming
from macaw.lowering.fim.island_job import Phase, copies
from macaw.lowering.fim.plan import (
    BRING,
    FETCH,
    HOST,
    PREFETCH,
    START,
    Action,
    GraphPlan,
    Step,
)
from macaw.lowering.fim.program import FEW
from macaw.lowering.fim.routes import Route
from macaw.lowering.processor_cycles import ProcessorCycles

LAST = 3  # instructions after the last wait for the dma: the end of a program


def timed(plan: GraphPlan, config: Configuration) -> GraphPlan:
    """Return the plan with exact times: of its actions, and of its end (`makespan`)."""
    times = _PlanTiming(plan, config)
    actions = tuple(times.action(action) for action in plan.actions)
    return replace(plan, actions=actions, makespan=times.end())


class _PlanTiming:
    """The time of cp, of the dma and of the islands while cp executes the actions of a plan."""

    def __init__(self, plan: GraphPlan, config: Configuration) -> None:
        self._plan, self._config = plan, config
        self._banks = {island: BankTiming(config) for island in range(config["fim.islands"])}
        self._copying = DmaTiming(config, self._banks)
        self._ends: dict[int, int] = {}  # by island: the end of its last blocks
        self._cp = self._dma = 0
        self._copy_ends: list[int] = []  # the ends of all copies
        cp = ProcessorCycles.of(config)
        self._instruction, self._branch, self._step = cp.instruction, cp.jump, cp.cycle
        self._phases: dict[int, list[Phase]] = {}
        self._computing: dict[int, BlocksTiming] = {}  # by step

    def action(self, action: Action) -> Action:
        """Advance the predicted times by an action, and return the action with its exact times."""
        does: dict[str, Callable[[Step], tuple[int, int]]] = {
            PREFETCH: lambda step: self._copy(self._of(step)[0].early),
            BRING: self._bring,
            START: self._start,
            FETCH: lambda step: self._copy(self._of(step)[-1].fetch),
            HOST: lambda step: self._copy(self._of(step)[0].bring),
        }
        begin, end = does[action.kind](self._plan.steps[action.step])
        return Action(action.kind, action.step, begin, end)

    def end(self) -> int:
        """Let cp wait for all copies and end the program; return the cycle of this end."""
        self._wait(self._dma)
        return self._cp + LAST * self._instruction

    def _of(self, step: Step) -> list[Phase]:
        if step.number not in self._phases:
            self._phases[step.number] = list(step.option.job.phases())
        return self._phases[step.number]

    def _bring(self, step: Step) -> tuple[int, int]:
        first = self._of(step)[0]
        return self._copy(first.bring if self._plan.needs_constants(step) else first.late)

    def _wait(self, until: int) -> None:
        """Let cp wait until cycle `until`; the wait takes at least the time of one instruction."""
        self._cp = max(self._cp, align_up(until, self._step)) + self._instruction

    def _copy(self, routes: Sequence[Route]) -> tuple[int, int]:
        """Let cp queue copies; return the cycles in which the dma starts the first and ends the
        last.
        """
        several = copies(tuple(routes))
        looped = len(several) > FEW
        begin = max(self._cp, self._dma)
        if looped:
            self._cp += 3 * self._instruction  # the address of the table and the count
        for number, copy in enumerate(several):
            if not looped:
                self._cp += 2 * self._instruction  # the address of the copy's description
            self._cp = max(self._cp, self._room())
            first = max(self._cp, self._dma)
            if not number:
                begin = first
            self._dma = self._copying.copy(copy, first)
            self._copy_ends.append(self._dma)
            self._cp += self._instruction
            if looped:
                more = number < len(several) - 1
                self._cp += 2 * self._instruction + (self._branch if more else self._instruction)
        return begin, max(begin, self._dma)

    def _room(self) -> int:
        """Return the first cycle in which cp can queue a copy.

        The queue has room for `dma.queue` copies, including the one that runs. So the copy that was
        queued `dma.queue` copies before must have ended.
        """
        earlier = len(self._copy_ends) - int(self._config["dma.queue"])
        return align_up(self._copy_ends[earlier], self._step) if earlier >= 0 else 0

    def _start(self, step: Step) -> tuple[int, int]:
        """Let cp start the blocks of a step; return the cycles of the first start and last end."""
        begin, end = self._start_once(step)
        for phase, after in pairwise(self._of(step)):
            self._copy(phase.fetch)
            self._copy(after.bring)
            _, end = self._start_once(step)
        return begin, end

    def _start_once(self, step: Step) -> tuple[int, int]:
        option = step.option
        assert option.island is not None
        self._wait(self._dma)
        self._cp += 3 * self._instruction  # the numbers of the island and of the first block
        begin = self._cp = max(self._cp, self._ends.get(option.island, 0))
        banks = self._banks[option.island]
        if step.number not in self._computing:
            blocks = option.job.blocks()
            self._computing[step.number] = blocks_timing(blocks, self._config, option.island)
        end = self._computing[step.number].end(banks, begin)
        self._ends[option.island] = end
        self._cp += self._instruction
        return begin, end
