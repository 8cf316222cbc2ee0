"""Steps of a lockstep group (`lockstep_group`): each has a start and an end for each cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import AFTER
from macaw.emu.pe.sequence import block_mask
from macaw.emu.pe.state import DONE, MAC, Op, Shape
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple

Ints = NDArray[np.int64]
STEPS = {"ld", "ld_queue", "skip", "mac", "move"}  # the names of steps that a group can execute


@dataclass(eq=False)
class LockstepStep:
    """A step of all clusters of a group, with its times in each cluster (clusters,).

    `known` is the first cycle of the step's iteration. `start` and `end` are the first and last
    cycle of the step, or None while they are unknown.
    """

    op: Op
    known: Ints
    start: Ints | None = None
    end: Ints | None = None

    @property
    def explicit(self) -> bool:
        """Whether the step is an instruction. Other steps follow from flags of the exe."""
        return self.op["implied"] is None


class EndedStep(NamedTuple):
    """A step that has ended. Each list has one element for each cluster of the group.

    `reads` are masks of the input blocks that it read. `remains` says whether the cluster's run
    still contains the step.
    """

    op: Op
    start: list[int]  # the first cycle of the step
    end: list[int]  # the last cycle of the step
    reads: list[int]
    remains: list[bool]


class StepConflicts:
    """Finds the conflicts between steps of a group, by the rules of `ControlUnit`.

    `reaches` has, for each cluster, the greatest index of its weights.
    """

    def __init__(self, shape: Shape, reaches: list[int]) -> None:
        self.shape, self.reaches = shape, reaches

    def reads(self, op: Op) -> list[int]:
        """Return, for each cluster, the mask of the input blocks that a step reads.

        The blocks of a mac follow from its base and the greatest index of the cluster's weights.
        """
        if op["unit"] != MAC:
            return [op["reads"]] * len(self.reaches)
        base, size, last = op["base"], self.shape.input_block, self.shape.input_buffer
        masks = {
            reach: block_mask(base, min(base + reach + 1, last), size)
            for reach in set(self.reaches)
        }
        return [masks[reach] for reach in self.reaches]

    def shares(self, op: Op, other: Op) -> NDArray[np.bool_] | bool:
        """Return whether the steps `op` and `other` conflict, by the rules of `ControlUnit`.

        The result is one bool for all clusters, or an array of shape (clusters,).
        """
        writes, other_writes = op["writes"], other["writes"]
        if op["sums"] & other["sums"] or op["blocks"] & other["blocks"] or writes & other_writes:
            return True
        if not writes and not other_writes:
            return False
        reads = zip(self.reads(op), self.reads(other), strict=True)
        among = {pair: bool(pair[0] & other_writes or writes & pair[1]) for pair in set(reads)}
        if len(set(among.values())) == 1:
            return next(iter(among.values()))
        reads = zip(self.reads(op), self.reads(other), strict=True)
        return np.array([among[pair] for pair in reads])


def only_accumulator(op: Op) -> int:
    """Return the accumulator that a step uses, a mac or a move: it uses exactly one."""
    return op["sums"].bit_length() - 1


def cycle_after(end: Ints, waits: NDArray[np.bool_] | bool) -> Ints:
    """Return the first cycle in which a step may start after a step that it may have to wait for.

    `waits` says in which clusters it must wait: there the result is the cycle after `end`. In all
    other clusters it is 0, which means no restriction.
    """
    return end + 1 if waits is True else np.where(waits, end + 1, 0)


def follows(op: Op, other: Op) -> bool:
    """Return whether step `op` must wait for the earlier step `other` because of their units.

    It must wait if `other` uses the same unit as `op`, or the unit to which `AFTER` maps the unit
    of `op`.
    """
    return other["unit"] in (op["unit"], AFTER.get(op["unit"]))


def ended_steps(
    before: Sequence[LockstepStep], steps: Sequence[LockstepStep], conflicts: StepConflicts
) -> list[EndedStep]:
    """Return the steps that a run contains when it has ended.

    They come from its last two iterations: `steps` has the steps of the last iteration, `before`
    the steps of the iteration before it. A step of `before` remains in a cluster if it ended after
    the last loopback.
    """
    last = steps[0].known
    ended = []
    for step in [*before, *steps]:
        assert step.start is not None
        assert step.end is not None
        remains = step.end >= last if step in before else np.ones_like(last, np.bool_)
        start, end, reads = step.start.tolist(), step.end.tolist(), conflicts.reads(step.op)
        ended.append(EndedStep(step.op, start, end, reads, remains.tolist()))
    return ended


def op_of(step: EndedStep, place: int) -> Op:
    """Return the `Op` of an ended step, with its times in the cluster `place` of the group."""
    op = step.op.copy()
    op["segments"], op["beats"], op["reads"] = list(op["segments"]), [], step.reads[place]
    op["state"], op["start"], op["end"] = DONE, step.start[place], step.end[place]
    return op
