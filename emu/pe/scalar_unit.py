"""The scalar unit 604 of a cluster: operands of the next iteration, written back to 605.

Seed 000 ¶112: after the PEs have finished an instruction, stage SU computes its next operands
and stage WB writes them to the register file.
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
        """An instruction of a run with four stages has ended: SU and WB come next."""
        run["written_back"][op["place"]] = timing.write_back(op["end"])
        run["unwritten"].append((op["place"], op["iteration"]))

    def write_back(self, run: Run, now: int) -> None:
        """Stage WB of each instruction whose turn it is in cycle `now`."""
        if not run["unwritten"]:
            return
        c, number = self.cluster.number, run["buffer"]
        buffer = self.cluster.buffer(number)
        left = []
        for place, iteration in run["unwritten"]:
            if run["written_back"][place] > now:
                left.append((place, iteration))
                continue
            again = iteration + 1 < run["iterations"]
            operands = buffer.operands(run["initial"], iteration + 1 if again else 0)[place]
            for operand, (value, stride) in enumerate(
                zip(operands, buffer.strides[place], strict=True)
            ):
                self.state.registers[c, number, place, operand] = value + stride * self.pes
        run["unwritten"] = left

    def next_start(self, run: Run, op: Op) -> int:
        """The first cycle in which `op` may start, NEVER if its last issue has not ended."""
        place = op["place"]
        for other in run["ops"]:
            if other is op:
                break
            if other["place"] == place and other["implied"] is None and other["state"] != DONE:
                return NEVER
        written = run["written_back"][place]
        return 0 if written == NOT_WRITTEN else timing.next_start(written)

    def next_event(self, run: Run, now: int) -> int:
        """The cycle of the next WB after `now`, or the one after the last of a run."""
        if run["unwritten"]:
            return min(run["written_back"][place] for place, _ in run["unwritten"])
        return NEVER if self.is_idle(run, now) else now + 1

    def is_idle(self, run: Run, now: int) -> bool:
        """Whether the last WB was before cycle `now`."""
        return max(run["written_back"], default=NOT_WRITTEN) < now

    def has_operands(self, run: Run, op: Op) -> bool:
        """Whether the operands of an ld stand in the register file, so that its data may come."""
        return op["unit"] == NO_UNIT or not any(
            place == op["place"] for place, _ in run["unwritten"]
        )
