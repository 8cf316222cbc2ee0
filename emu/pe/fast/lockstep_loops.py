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
bus waits for the last cluster. So the rule then also needs the starts of the iterations. They
follow from the lengths of the iterations before, and must no longer change either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe import timing
from macaw.emu.pe.fast.lockstep_accumulate import RepeatedSums, SumsStep
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import STEPS, LockstepStep, StepConflicts, follows
from macaw.emu.pe.instruction_buffers import InstructionBuffer, Pairs
from macaw.emu.pe.state import LOADER, MAC, Op, Shape
from macaw.isa.lazy_dataclass import dataclass

Ints = NDArray[np.int64]
WITHOUT_SEGMENTS = STEPS - {"ld"}  # the steps of iterations that take no segments


@dataclass(frozen=True)
class PatternStep:
    """One step of every iteration. `after` has the indices of the steps for which it waits.

    `opens_after` has the indices of the steps for which the bus waits before it sends the step's
    segment. The step is an instruction if `explicit`; otherwise it follows from flags of the exe.
    """

    op: Op
    explicit: bool
    after: tuple[int, ...]
    opens_after: tuple[int, ...]


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

    If lds of each iteration take segments, `beats` is the number of beats of each segment, and
    `conflicts` finds the steps for which the bus waits.
    """

    def __init__(
        self,
        steps: Sequence[LockstepStep],
        long_pipeline: bool,
        beats: int = 0,
        conflicts: StepConflicts | None = None,
    ) -> None:
        self.long_pipeline, self.beats = long_pipeline, beats
        ops = [step.op for step in steps]
        self.steps = []
        for number, step in enumerate(steps):
            after, opens_after = list[int](), list[int]()
            for at, other in enumerate(ops[:number]):
                if not step.op["segments"]:
                    if _waits(step.op, other):
                        after.append(at)
                elif conflicts is not None and conflicts.shares(step.op, other) is not False:
                    opens_after.append(at)
            self.steps.append(PatternStep(step.op, step.explicit, tuple(after), tuple(opens_after)))

    def times(self, known: Ints, issue: Ints, ends: dict[int, Ints], cycles: Ints) -> Iterations:
        """Return the times of the iterations whose macs take `cycles` (n, macs, clusters).

        The first of these iterations begins in cycle `known` (clusters,), and the next step can
        start in cycle `issue` (clusters,) at the earliest. `ends` maps the number of an instruction
        to the last cycle of its latest execution in each cluster.
        """
        ready = [
            self._ready(ends[step.op["place"]])
            if step.explicit and step.op["place"] in ends
            else known
            for step in self.steps
        ]
        count = len(cycles)
        state = np.zeros((count + 1, len(self.steps) + 2, known.size), np.int64)
        state[0] = np.maximum(np.stack([known, issue, *ready]), known) - known
        first = np.broadcast_to(known, (count + 1, known.size))
        while True:  # after n applications, at least the first n states and starts are right
            start, end, following, length, beats = self.next_iteration(state[:-1], first, cycles)
            before, first = first, np.concatenate([known[None], known + np.cumsum(length, axis=0)])
            if (state[1:] == following).all() and (not self.beats or (first == before).all()):
                break
            state[1:] = following
        return Iterations(start + first[:-1, None], end + first[:-1, None], first[-1], beats)

    def next_iteration(
        self, state: Ints, first: Ints, cycles: Ints
    ) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Return the times of the steps of n iterations, the states after these, and their lengths.

        `state` (n, 2 + steps, clusters) has the times at the start of each iteration: its first
        cycle, the earliest cycle of the next issue, then for each step the cycle in which its
        operands are ready. The times are relative to the first cycle of the iteration, which
        `first` (n + 1, clusters) has for each cluster. `cycles` (n, macs, clusters) says how long
        the macs take. The result has five arrays: the starts and the ends of the steps (n, steps,
        clusters), the states after the iterations in the form of `state`, the lengths in cycles (n,
        clusters), and the first beats of the segments (n, segments). These beats are absolute
        times, the starts and ends are relative.
        """
        steps, base = self.steps, first[:-1]
        starts, ends, beats = list[Ints](), list[Ints](), [np.zeros((len(state), 0), np.int64)]
        issue, macs = state[:, 1], 0
        known = state[:, 0]
        for number, step in enumerate(steps):
            start = np.maximum(issue, state[:, 2 + number])
            for at in step.after:
                start = np.maximum(start, ends[at] + 1)
            end = start
            if step.op["segments"]:
                opens = self._opens(step, state[:, 2 + number], state[:, 0], starts, ends)
                beats.append((opens + base).max(axis=1, keepdims=True))
                beat = beats[-1] - base
                start = np.maximum(start, beat + 1)
                end = np.maximum(start, beat + self.beats)
            elif step.op["name"] == "ld_queue":
                end = timing.psums_end(start)
            elif step.op["name"] == "mac":
                end = start + cycles[:, macs] - 1
                macs += 1
            issue = start + 1
            known = np.maximum(known, issue)
            if step.op["unit"] in (LOADER, MAC):
                known = np.maximum(known, end + 1)
            starts.append(start)
            ends.append(end)
        following = np.empty_like(state)
        following[:, 0], following[:, 1] = known, np.maximum(issue, known)
        for number, (step, end) in enumerate(zip(steps, ends, strict=True)):
            ready = np.maximum(self._ready(end), known) if step.explicit else known
            following[:, 2 + number] = ready
        following -= known[:, None]
        found = np.stack(starts, axis=1), np.stack(ends, axis=1)
        return *found, following, known, np.concatenate(beats, axis=1)

    def _opens(
        self, step: PatternStep, ready: Ints, known: Ints, starts: list[Ints], ends: list[Ints]
    ) -> Ints:
        """Return the first cycle in which each cluster can take a step's segment, (n, clusters).

        The rules are those of `ControlUnit.can_take`. `ready` (n, clusters) is the cycle in which
        the step's operands are ready, `known` (n, clusters) the cycle in which the iteration
        begins. `starts` and `ends` are the times of the earlier steps.
        """
        opens = reduce(np.maximum, starts, known)
        for at in step.opens_after:
            opens = np.maximum(opens, ends[at] + 1)
        if self.long_pipeline:  # the operands are in the register file
            opens = np.maximum(opens, ready - timing.next_start(0))
        return opens

    def _ready(self, end: Ints) -> Ints:
        """Return the first cycle in which an instruction that ended in `end` can start again."""
        return timing.next_start(timing.write_back(end)) if self.long_pipeline else end + 1


def _waits(op: Op, other: Op) -> bool:
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
    segments: NDArray[Any] | None = None,
) -> RepeatedSums:
    """Return the effect of `iterations` on accumulators and output queues.

    The function takes the macs of the iterations from `macs`. If the iterations load segments of
    partial sums, `segments` contains these sums, in the shape (segments, clusters, PEs, sums). The
    other arguments are those of `repeats`.
    """
    bases, rows, loads = [], list[SumsStep](), 0
    if segments is not None:
        segments = segments.reshape(len(iterations), -1, *segments.shape[1:])
    for step in steps:
        place = step.op["place"]
        if step.op["name"] == "ld_queue":
            rows.append(SumsStep("ld_queue", entry=initial[place][0]))
        elif step.op["name"] == "ld" and segments is not None:
            rows.append(SumsStep("ld", entry=initial[place][0], sums=segments[:, loads]))
            loads += 1
        elif step.op["name"] == "mac":
            accumulator = step.op["sums"].bit_length() - 1
            rows.append(SumsStep("mac", accumulator))
            bases.append((buffer.operand(initial, place, 0, iterations).tolist(), accumulator))
        elif step.op["name"] == "move":
            targets = buffer.operand(initial, place, 1, iterations).tolist()
            rows.append(SumsStep("move", initial[place][0], targets=targets))
    taken = [
        macs.take(values[number], accumulator)
        for number in range(len(iterations))
        for values, accumulator in bases
    ]
    return RepeatedSums(len(iterations), rows, taken)
