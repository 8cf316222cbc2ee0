"""The steps of a lockstep group (`lockstep_group`), with one start and one end for each cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import AFTER
from macaw.emu.pe.state import DONE, Op

Ints = NDArray[np.int64]
STEPS = {"ld", "ld_queue", "skip", "mac", "move"}  # that a group can execute


@dataclass(eq=False)
class LockstepStep:
    """A step of all clusters of a group.

    `start` and `end` (clusters,) are its first and last cycles, None until they are known.
    """

    op: Op
    known: Ints  # the first cycle of its iteration
    start: Ints | None = None
    end: Ints | None = None

    @property
    def explicit(self) -> bool:
        """Whether the step is an instruction, not a step that flags imply."""
        return self.op["implied"] is None


class EndedStep(NamedTuple):
    """A step that is over. Each list has one element for each cluster of the group.

    `reads` are masks of the input blocks that it read. `remains` says whether the cluster's run
    still contains the step.
    """

    op: Op
    start: list[int]
    end: list[int]
    reads: list[int]
    remains: list[bool]


def cycle_after(end: Ints, waits: NDArray[np.bool_] | bool) -> Ints:
    """Return the cycle after `end` for the clusters in `waits`, and 0 for the others."""
    return end + 1 if waits is True else np.where(waits, end + 1, 0)


def follows(op: Op, other: Op) -> bool:
    """Return whether step `op` must wait for the earlier step `other` because of its unit.

    It must if `other` uses the same unit, or the unit that `AFTER` names for it.
    """
    return other["unit"] in (op["unit"], AFTER.get(op["unit"]))


def op_of(step: EndedStep, place: int) -> Op:
    """Return the `Op` of a step that is over, with its times in the group's cluster `place`."""
    op = step.op.copy()
    op["segments"], op["beats"], op["reads"] = list(op["segments"]), [], step.reads[place]
    op["state"], op["start"], op["end"] = DONE, step.start[place], step.end[place]
    return op
