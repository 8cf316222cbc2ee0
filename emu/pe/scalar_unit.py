"""The scalar unit 604 of a cluster: it writes the next iteration's operands to register file 605.

Seed 000 ¶112: after the PEs have finished an instruction, stage SU (scalar unit) computes its next
operands, and stage WB (write back) writes them to the register file 605.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.pe import timing
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.state import DONE, NO_UNIT, NOT_WRITTEN, Op, Run
from macaw.emu.waits import NEVER


class ScalarUnit:
    """The scalar unit of one cluster."""

    def __init__(self, cluster: Cluster) -> None:
        self.state, self.cluster = cluster.state, cluster
        self.pes = np.arange(cluster.shape.pes)

    def schedule_write_back(self, run: Run, op: Op) -> None:
        """Schedule stages SU and WB, which compute and write the next operands of a step.

        `op` is the step, which has just ended; `run` is its run. The run's sequence must have four
        stages.
        """
        run["written_back"][op["place"]] = timing.write_back(op["end"])
        run["unwritten"].append((op["place"], op["iteration"]))

    def write_back(self, run: Run, now: int) -> None:
        """Write the next operands of each instruction of a run that are due by cycle `now`.

        These are the operands of the next iteration. After the last iteration, they are those of
        the first one.
        """
        if not run["unwritten"]:
            return
        c, number = self.cluster.number, run["buffer"]
        buffer = self.cluster.buffer(number)
        unwritten = []
        for place, iteration in run["unwritten"]:
            if run["written_back"][place] > now:
                unwritten.append((place, iteration))
                continue
            has_next = iteration + 1 < run["iterations"]
            operands = buffer.operands(run["initial"], iteration + 1 if has_next else 0)[place]
            for operand, (value, stride) in enumerate(
                zip(operands, buffer.strides[place], strict=True)
            ):
                self.state.registers[c, number, place, operand] = value + stride * self.pes
        run["unwritten"] = unwritten

    def next_start(self, run: Run, op: Op) -> int:
        """Return the first cycle in which the operands of step `op` of a run allow it to start.

        NEVER means that the same instruction of the previous iteration has not ended yet.
        """
        place = op["place"]
        for other in run["ops"]:
            if other is op:
                break
            if other["place"] == place and other["implied"] is None and other["state"] != DONE:
                return NEVER
        write_back = run["written_back"][place]
        return 0 if write_back == NOT_WRITTEN else timing.next_start(write_back)

    def next_event(self, run: Run, now: int) -> int:
        """Return the cycle of the next write-back (stage WB) of a run; NEVER if none is left.

        If none is left, but the last one was in cycle `now`, return the cycle after `now`, because
        the run may end in that cycle.
        """
        if run["unwritten"]:
            return min(run["written_back"][place] for place, _ in run["unwritten"])
        return NEVER if self.is_idle(run, now) else now + 1

    def is_idle(self, run: Run, now: int) -> bool:
        """Return whether the last write-back of a run's operands was before cycle `now`."""
        return max(run["written_back"], default=NOT_WRITTEN) < now

    def has_operands(self, run: Run, op: Op, now: int) -> bool:
        """Return whether the register file has the operands of the ld step `op` in cycle `now`.

        `run` is the run of `op`. Until it has them, the bus must not send the data of the ld.
        """
        return op["unit"] == NO_UNIT or run["written_back"][op["place"]] <= now
