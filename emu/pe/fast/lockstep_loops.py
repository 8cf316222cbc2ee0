"""Computes many iterations of a lockstep group (`lockstep_group`) at once.

If the bus has brought all segments, all iterations of a loop consist of the same steps. Only the
cycles of their macs, the base addresses and the entries of the output queue differ. So the times of
all iterations follow from one rule, `Pattern.next_iteration`. It takes the state of the control
unit at the start of an iteration and the cycles of the iteration's macs. Times in a state are
relative to that start, and times in the past count as 0, so nearly all iterations begin in the same
state. The code applies the rule to all iterations together, with the states that the last
application gave, until the states no longer change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe import timing
from macaw.emu.pe.fast.lockstep_accumulate import RepeatedSums, SumsStep
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import LockstepStep, follows
from macaw.emu.pe.instruction_buffers import InstructionBuffer, Pairs
from macaw.emu.pe.state import LOADER, MAC, Op, Shape

Ints = NDArray[np.int64]
STEPS = {"ld_queue", "skip", "mac", "move"}  # the least number of iterations without segments


@dataclass(frozen=True)
class PatternStep:
    """One step of every iteration. `after` has the indices of the steps for which it waits."""

    op: Op
    explicit: bool
    after: tuple[int, ...]


@dataclass(frozen=True)
class Iterations:
    """The times of n iterations.

    `start` and `end` have the first and last cycles of their steps, in shape (n, steps, clusters).
    `known` (clusters,) is the first cycle of the iteration after them.
    """

    start: Ints
    end: Ints
    known: Ints


class Pattern:
    """The steps of every iteration of a loop, and which earlier steps each one waits for."""

    def __init__(self, steps: Sequence[LockstepStep], long_pipeline: bool) -> None:
        self.long_pipeline = long_pipeline
        ops = [step.op for step in steps]
        self.steps = [
            PatternStep(
                step.op,
                step.explicit,
                tuple(at for at in range(number) if _waits(step.op, ops[at])),
            )
            for number, step in enumerate(steps)
        ]

    def times(self, known: Ints, issue: Ints, ends: dict[int, Ints], cycles: Ints) -> Iterations:
        """Return the times of the iterations whose macs take `cycles` (n, macs, clusters).

        `known` (clusters,) is the first cycle of the first of these iterations. `issue` and `ends`
        are those of `LockstepGroup` in that cycle.
        """
        ready = [
            np.maximum(self._ready(ends[step.op["place"]]) - known, 0)
            if step.explicit and step.op["place"] in ends
            else np.zeros_like(known)
            for step in self.steps
        ]
        count = len(cycles)
        state = np.zeros((count + 1, len(self.steps) + 1, known.size), np.int64)
        state[0, 0], state[0, 1:] = np.maximum(issue - known, 0), ready
        while True:  # after n applications, at least the first n states are right
            start, end, following, length = self.next_iteration(state[:-1], cycles)
            if (state[1:] == following).all():
                break
            state[1:] = following
        first = np.concatenate([known[None], known + np.cumsum(length, axis=0)])
        return Iterations(start + first[:-1, None], end + first[:-1, None], first[-1])

    def next_iteration(self, state: Ints, cycles: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the times of the steps of n iterations, the states after these, and their lengths.

        `state` (n, 1 + steps, clusters) has the times at the start of each iteration: first the
        earliest cycle of the next issue, then for each step the cycle in which its operands are
        ready. The results are the starts and the ends of the steps (n, steps, clusters), the states
        after the iterations, and the lengths in cycles (n, clusters). All times are relative to the
        start of the iteration.
        """
        steps = self.steps
        starts, ends = list[Ints](), list[Ints]()
        issue, macs = state[:, 0], 0
        length = np.zeros_like(issue)
        for number, step in enumerate(steps):
            start = np.maximum(issue, state[:, 1 + number])
            for at in step.after:
                start = np.maximum(start, ends[at] + 1)
            end = start
            if step.op["name"] == "ld_queue":
                end = timing.psums_end(start)
            elif step.op["name"] == "mac":
                end = start + cycles[:, macs] - 1
                macs += 1
            issue = start + 1
            length = np.maximum(length, issue)
            if step.op["unit"] in (LOADER, MAC):
                length = np.maximum(length, end + 1)
            starts.append(start)
            ends.append(end)
        following = np.zeros_like(state)
        following[:, 0] = np.maximum(issue - length, 0)
        for number, (step, end) in enumerate(zip(steps, ends, strict=True)):
            if step.explicit:
                following[:, 1 + number] = np.maximum(self._ready(end) - length, 0)
        return np.stack(starts, axis=1), np.stack(ends, axis=1), following, length

    def _ready(self, end: Ints) -> Ints:
        """Return the first cycle in which an instruction that ended in `end` can start again."""
        return timing.next_start(timing.write_back(end)) if self.long_pipeline else end + 1


def _waits(op: Op, other: Op) -> bool:
    """Return whether a step waits for an earlier step of its iteration.

    `repeats` has made sure that they share no blocks of the output queue.
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

    All iterations must use the same accumulators and read the same entries of the output queue. The
    targets of moves must be different entries, outside of the blocks that are read.
    """
    if not {step.op["name"] for step in steps} <= STEPS:
        return False
    blocks_read, targets = 0, [np.zeros(0, np.int64)]
    for step in steps:
        op, place = step.op, step.op["place"]
        varies = [any(changes) for changes in buffer.steps[place]]
        if op["name"] == "ld_queue":
            blocks_read |= op["blocks"]
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
    blocks = blocks_read >> (places // shape.output_block) & 1
    return not blocks.any() and np.unique(places).size == places.size


def repeated_sums(
    steps: Sequence[LockstepStep],
    buffer: InstructionBuffer,
    initial: Pairs,
    iterations: Ints,
    macs: LockstepMacs,
) -> RepeatedSums:
    """Return what `iterations` do to accumulators and output queues. Take the macs from `macs`."""
    bases, rows = [], []
    for step in steps:
        place = step.op["place"]
        if step.op["name"] == "ld_queue":
            rows.append(SumsStep("load", source=initial[place][0]))
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
