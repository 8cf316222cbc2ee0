"""Steps of a lockstep group (`lockstep_group`), with times by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu.pe.control_unit import AFTER
from macaw.emu.pe.state import DONE, Op

Ints = NDArray[np.int64]
STEPS = {"ld", "skip", "mac", "move"}  # what a gang can do


@dataclass(eq=False)
class LockstepStep:
    """A step of all clusters, and when each begins and ends it, as far as that is known."""

    op: Op
    known: Ints  # the cycle of the loopback that made it a step
    start: Ints | None = None
    end: Ints | None = None

    @property
    def explicit(self) -> bool:
        """Whether it is an instruction, not what a flag or the lack of an spu implies."""
        return self.op["implied"] is None


class EndedStep(NamedTuple):
    """A step that is over, by cluster: when, what it read, whether it is still in the run."""

    op: Op
    start: list[int]
    end: list[int]
    reads: list[int]
    remains: list[bool]


def cycle_after(end: Ints, waits: NDArray[np.bool_] | bool) -> Ints:
    """The cycle after an end, of those who wait for it."""
    return end + 1 if waits is True else np.where(waits, end + 1, 0)


def follows(op: Op, other: Op) -> bool:
    """Whether a step waits for every earlier one like another, by its unit."""
    return other["unit"] in (op["unit"], AFTER.get(op["unit"]))


def op_of(ended: EndedStep, place: int) -> Op:
    """A step of a cluster that is over."""
    op = ended.op.copy()
    op["segments"], op["beats"], op["reads"] = list(op["segments"]), [], ended.reads[place]
    op["state"], op["start"], op["end"] = DONE, ended.start[place], ended.end[place]
    return op
