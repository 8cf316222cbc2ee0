"""The device cycles that instructions of cp take, for predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ProcessorCycles:
    """The device cycles of the instructions of cp that do not wait for memory or other cores.

    `instruction` is for an instruction of one step, such as an addition (`cp.alu_cycles`). `jump`
    is for a jump or a taken branch (`cp.branch_taken_cycles`). `cycle` is one cycle of cp, which a
    store takes.
    """

    instruction: int
    jump: int
    cycle: int

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ProcessorCycles:
        """Return the cycles by the settings of a device."""
        cycle = int(config["cp.divider"])
        alu, jump = int(config["cp.alu_cycles"]), int(config["cp.branch_taken_cycles"])
        return cls(alu * cycle, jump * cycle, cycle)

    @property
    def call(self) -> int:
        """The cycles of a subroutine's call and return.

        A call is an instruction for the address and a jump, the return is a jump.
        """
        return self.instruction + 2 * self.jump
