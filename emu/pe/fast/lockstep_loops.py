"""Computes many iterations of a lockstep group (`lockstep_group`) at once.

All iterations that `lockstep_iterations` finds consist of the same steps. Only the cycles of their
macs, the base addresses and the entries of the output queue differ. So one rule,
`Pattern.next_iteration`, gives the times of any iteration. Its inputs are the state at the start of
the iteration (when the control units can go on) and the cycles that the iteration's macs take. Its
results include the state at the start of the next iteration.

Times in a state are relative to the start of the iteration in the cluster, and earlier times count
as this start, so nearly all iterations begin in the same state. Therefore the code first assumes
one state for all iterations, and applies the rule to all of them together. It then uses the
resulting states as inputs, and repeats this until the states no longer change.

Clusters begin an iteration in different cycles. If the iterations take segments from the bus, the
bus waits for the last cluster. So the rule then also needs the lead of each cluster over the last
one, which follows from the iteration before, and must no longer change either.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe import timing
from macaw.emu.pe.fast.lockstep_accumulate import RepeatedSums, SumsStep
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import (
    STEPS,
    LockstepStep,
    StepConflicts,
    follows,
    only_accumulator,
)
from macaw.emu.pe.instruction_buffers import InstructionBuffer, Pairs
from macaw.emu.pe.state import LOADER, MAC, Op, Shape
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]
WITHOUT_SEGMENTS = STEPS - {"ld"}  # the steps of iterations that take no segments


@dataclass(frozen=True)
class PatternStep:
    """One step of every iteration. `after` has the indices of the steps for which it waits.

    `opens_after` has the indices of the steps for which the bus waits before it sends the step's
    segment, which has `beats` beats. The step is an instruction if `explicit`; otherwise it follows
    from flags of the exe.
    """

    op: Op
    explicit: bool
    after: tuple[int, ...]
    opens_after: tuple[int, ...]
    beats: int


@dataclass(frozen=True)
class Iterations:
    """The times of n iterations.

    `start` and `end` have the first and last cycles of their steps, in shape (n, steps, clusters).
    `known` (clusters,) is the first cycle of the iteration after them. `beats` (n, segments) has
    the cycle of the first beat of each segment.
    """

    start: Ints
    end: Ints
    known: Ints
    beats: Ints


class Pattern:
    """The steps of every iteration of a loop, and which earlier steps each one waits for.

    If lds of each iteration take a segment, `beats` has for each of these lds the number of beats
    of the segment, and `conflicts` finds the steps for which the bus waits.
    """

    def __init__(
        self,
        steps: Sequence[LockstepStep],
        long_pipeline: bool,
        beats: Sequence[int],
        conflicts: StepConflicts | None,
    ) -> None:
        self.long_pipeline, self.has_beats = long_pipeline, bool(beats)
        beats_of_lds = iter(beats)
        ops = [step.op for step in steps]
        self.steps = []
        for number, step in enumerate(steps):
            after, opens_after = list[int](), list[int]()
            for at, other in enumerate(ops[:number]):
                if not step.op["segments"]:
                    if waits(step.op, other):
                        after.append(at)
                elif conflicts is not None and conflicts.shares(step.op, other) is not False:
                    opens_after.append(at)
            own = next(beats_of_lds) if step.op["segments"] else 0
            self.steps.append(
                PatternStep(step.op, step.explicit, tuple(after), tuple(opens_after), own)
            )
        self.implied = [number for number, step in enumerate(steps) if not step.explicit]

    def times(self, known: Ints, issue: Ints, ends: dict[int, Ints], cycles: Ints) -> Iterations:
        """Return the times of the iterations whose macs take `cycles` (n, macs, clusters).

        The first of these iterations begins in cycle `known` (clusters,), and the next step can
        start in cycle `issue` (clusters,) at the earliest. `ends` maps the number of an instruction
        to the last cycle of its latest execution in each cluster.
        """
        state = np.zeros((len(self.steps) + 1, len(cycles) + 1, known.size), np.int64)
        state[0, 0] = issue
        for step, ready in zip(self.steps, state[1:, 0], strict=True):
            place = step.op["place"]
            ready[:] = self._ready(ends[place]) if step.explicit and place in ends else known
        state[:, 0] = np.maximum(state[:, 0] - known, 0)
        lead, cycles = np.zeros(state.shape[1:], np.int64), cycles.swapaxes(0, 1)
        lead[0] = known - known.max()
        for number in count():  # after n applications, at least the first n states are right
            found = self.next_iteration(state[:, :-1], lead[:-1], cycles)
            start, end, following, length, beats = found
            leads = _relative_to_last(lead[:-1] + length)
            are_leads = not self.has_beats or np.array_equal(lead[1:], leads)
            if are_leads and np.array_equal(state[:, 1:], following):
                break
            # The leads of a cluster that waits for the bus do not depend on its earlier leads. If
            # no cluster waits, the leads are sums of lengths. To assume both in turn is fastest.
            sums = number % 2 == 0
            lead[1:] = _relative_to_last(lead[0] + length.cumsum(axis=0)) if sums else leads
            state[:, 1:] = following
        first = np.concatenate([known[None], known + np.cumsum(length, axis=0)])
        start, end = (times.swapaxes(0, 1) + first[:-1, None] for times in (start, end))
        last = first[:-1].max(axis=1, keepdims=True)
        return Iterations(start, end, first[-1], np.concatenate(beats, axis=1) + last)

    def next_iteration(
        self, state: Ints, lead: Ints, cycles: Ints
    ) -> tuple[Ints, Ints, Ints, Ints, list[Ints]]:
        """Return the times of the steps of n iterations, the states after these, and their lengths.

        `state` (1 + steps, n, clusters) has the times at the start of each iteration: the earliest
        cycle of the next issue, then for each step the cycle in which its operands are ready. The
        times are relative to the first cycle of the iteration in each cluster; earlier times count
        as 0. `lead` (n, clusters) has this first cycle, relative to the start of the last cluster.
        `cycles` (macs, n, clusters) says how long the macs take. The result has five parts: the
        starts and the ends of the steps (steps, n, clusters), the states after the iterations in
        the form of `state`, the lengths in cycles (n, clusters), and a list with the first beats of
        each segment (n, 1). These beats are relative to the start of the last cluster.
        """
        issue, ready = state[0], state[1:]
        starts, ends = np.empty_like(ready), np.empty_like(ready)
        beats, macs = [np.zeros((len(lead), 0), np.int64)], iter(cycles)
        for number, (step, start, end) in enumerate(zip(self.steps, starts, ends, strict=True)):
            np.maximum(issue, ready[number], out=start)
            for at in step.after:
                np.maximum(start, ends[at] + 1, out=start)
            if step.op["segments"]:
                opens = self._opens(step, ready[number], starts[:number], ends)
                beats.append((opens + lead).max(axis=1, keepdims=True))
                beat = beats[-1] - lead
                np.maximum(start, beat + 1, out=start)
                np.maximum(start, beat + step.beats, out=end)
            elif step.op["name"] == "ld_queue":
                end[...] = timing.psums_end(start)
            elif step.op["name"] == "mac":
                np.add(start, next(macs) - 1, out=end)
            else:
                end[...] = start
            issue = start + 1
        length = issue
        for step, end in zip(self.steps, ends, strict=True):
            if step.op["unit"] in (LOADER, MAC):
                length = np.maximum(length, end + 1)
        following = np.zeros_like(state)
        np.maximum(self._ready(ends) - length, 0, out=following[1:])
        if self.implied:
            following[1:][self.implied] = 0
        return starts, ends, following, length, beats

    def _opens(self, step: PatternStep, ready: Ints, starts: Ints, ends: Ints) -> Ints:
        """Return the first cycle in which each cluster can take the segment of `step`, an ld.

        The rules are those of `ControlUnit.can_take`. `ready` is the cycle in which the operands
        of the ld are ready. `starts` and `ends` have the starts (in ascending order) and the ends
        of the earlier steps of the iteration. Result and `ready` have shape (n, clusters), for n
        iterations. All times count from the start of the iteration in the cluster.
        """
        opens = starts[-1] if len(starts) else np.zeros_like(ready)
        for at in step.opens_after:
            opens = np.maximum(opens, ends[at] + 1)
        if self.long_pipeline:  # the operands are in the register file
            opens = np.maximum(opens, ready - timing.next_start(0))
        return opens

    def _ready(self, end: Ints) -> Ints:
        """Return the first cycle in which an instruction that ended in `end` can start again."""
        return timing.next_start(timing.write_back(end)) if self.long_pipeline else end + 1


def _relative_to_last(cycles: Ints) -> Ints:
    """Return the cycles (n, clusters) of n events relative to that of the last cluster."""
    relative: Ints = cycles - cycles.max(axis=1, keepdims=True)
    return relative


def waits(op: Op, other: Op) -> bool:
    """Return whether step `op` waits for the earlier step `other` of its iteration.

    `repeats` has made sure that the two steps share no blocks of the output queue.
    """
    if op["name"] == "skip" or other["name"] == "skip":
        return False
    return follows(op, other) or bool(op["sums"] & other["sums"])


def repeats(
    shape: Shape,
    steps: Sequence[LockstepStep],
    buffer: InstructionBuffer,
    initial: Pairs,
    iterations: Ints,
) -> bool:
    """Return whether all of `iterations` have the same steps, except for bases and targets.

    `steps` are the steps of one iteration of the sequence in `buffer`, and `initial` has the
    operands of iteration 0. Return True only if two more conditions are met. All iterations use the
    same accumulators, and their loads read or write the same entries of the output queue. The
    targets of all moves are different entries of this queue, outside of the blocks of the loads.
    """
    blocks_loaded, targets = 0, [np.zeros(0, np.int64)]
    for step in steps:
        op, place = step.op, step.op["place"]
        varies = [any(changes) for changes in buffer.steps[place]]
        if op["name"] == "ld_queue" or (op["name"] == "ld" and op["blocks"]):
            blocks_loaded |= op["blocks"]
            if varies[0]:
                return False
        elif op["name"] == "mac" and varies[1]:
            return False
        elif op["name"] == "move":
            if varies[0] or not step.explicit:
                return False
            targets.append(buffer.operand(initial, place, 1, iterations))
    places = np.concatenate(targets)
    if not places.size:
        return True
    if places.min() < 0 or places.max() >= shape.output_queue:
        return False  # the iteration will raise a fault
    blocks = blocks_loaded >> (places // shape.output_block) & 1
    return not blocks.any() and np.unique(places).size == places.size


def repeated_sums(
    steps: Sequence[LockstepStep],
    buffer: InstructionBuffer,
    initial: Pairs,
    iterations: Ints,
    macs: LockstepMacs,
    loaded: Sequence[NDArray[Any] | None] = (),
) -> RepeatedSums:
    """Return the effect of `iterations` on accumulators and output queues.

    `steps` are the steps of one iteration of the sequence in `buffer`, and `initial` has the
    operands of iteration 0. The function takes the macs of the iterations from `macs`. `loaded` has
    an element for each ld of an iteration: None if it loads activations, or the partial sums that
    it loads, in the shape (iterations, clusters, PEs, sums).
    """
    bases, rows, values = [], list[SumsStep](), iter(loaded)
    for step in steps:
        place = step.op["place"]
        if step.op["name"] == "ld_queue":
            rows.append(SumsStep("ld_queue", entry=initial[place][0]))
        elif step.op["name"] == "ld" and (sums := next(values)) is not None:
            rows.append(SumsStep("ld", entry=initial[place][0], sums=sums))
        elif step.op["name"] == "mac":
            accumulator = only_accumulator(step.op)
            rows.append(SumsStep("mac", accumulator))
            bases.append((buffer.operand(initial, place, 0, iterations).tolist(), accumulator))
        elif step.op["name"] == "move":
            targets = buffer.operand(initial, place, 1, iterations).tolist()
            rows.append(SumsStep("move", only_accumulator(step.op), targets=targets))
    taken = [
        macs.take(values[number], accumulator)
        for number in range(len(iterations))
        for values, accumulator in bases
    ]
    return RepeatedSums(len(iterations), rows, taken)
