"""The device cycles that instructions of cp take, for predictions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.isa.lazy_dataclass import dataclass


@dataclass(frozen=True)
class Code:
    """The number of instructions of a piece of cp's code, by their kinds.

    `jumps` includes taken branches, `instructions` counts the instructions of no other field. The
    numbers are averages if the code depends on the plan.
    """

    instructions: float
    jumps: float
    multiplications: float = 0
    loads: float = 0
    stores: float = 0


@dataclass(frozen=True)
class ProcessorCycles:
    """The device cycles of the instructions of cp that do not wait for memory or other cores.

    `instruction` is for an instruction of one step, such as an addition (`cp.alu_cycles`). `jump`
    is for a jump or a taken branch (`cp.branch_taken_cycles`). `multiply` is for a multiplication,
    `load` for a load of cp's local memory. `cycle` is one cycle of cp, which a store takes.
    """

    instruction: int
    jump: int
    multiply: int
    load: int
    cycle: int

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> ProcessorCycles:
        """Return the cycles of cp's instructions on a device with the settings `config`."""
        cycle = int(config["cp.divider"])
        alu, jump = int(config["cp.alu_cycles"]), int(config["cp.branch_taken_cycles"])
        multiply, load = int(config["cp.mul_cycles"]), int(config["cp.local_cycles"])
        return cls(alu * cycle, jump * cycle, multiply * cycle, load * cycle, cycle)

    @property
    def call(self) -> int:
        """The cycles of a subroutine's call and return.

        A call is an instruction for the address and a jump, the return is a jump.
        """
        return self.instruction + 2 * self.jump

    def of_code(self, code: Code) -> float:
        """Return the device cycles in which cp executes the instructions that `code` counts."""
        return (
            code.instructions * self.instruction
            + code.jumps * self.jump
            + code.multiplications * self.multiply
            + code.loads * self.load
            + code.stores * self.cycle
        )


# The code that `macaw.lowering.processor_program` writes.
_STEP = Code(45, 12, 8, 7, 3)
_LOAD = Code(34, 3, 5, 4, 4)
_STORE = Code(16, 6, 2, 3)
_TRANSFER = Code(5, 1, loads=1.5, stores=1)
_SLAB = Code(8, 3, 2, 3)
_PATCH = Code(4, 1, stores=1)
_TURN = Code(7, 1, loads=1)
_BEGIN = Code(30, 4, 2, 3)
_WAITS = 11  # the waits and the swap between two iterations, without the instructions of cp


@dataclass(frozen=True)
class IterationCycles:
    """The device cycles of the parts of cp's code in a program for the array.

    cp dispatches an iteration to the rows, and then loads the data of the next one.

    - `step`: the code of an iteration, without its loops
    - `transfer`: one round of a loop over transfers
    - `slab`: one round of the loop over padded slabs, without its transfers
    - `patch`: writing the number of bytes of weights into one packet
    - `load`: the part of this code that loads the data of an iteration
    - `store`: from a dispatch to the first transfer that loads data
    - `turn`: from the end of an iteration's work to the next dispatch
    - `begin`: the code before the first load and after the last store
    """

    step: float  # dispatch, step, load and store without their loops
    load: float  # load without its loops
    store: float  # from the dispatch to the first transfer of the load
    transfer: float  # one round of a loop over transfers
    slab: float  # one round of the loop over slabs with padding, without its transfers
    patch: float  # for writing the number of bytes of weights into one packet
    turn: float  # from the end of an iteration's work to the dispatch of the next iteration
    begin: float  # before the first load, and after the last store

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> IterationCycles:
        """Return the cycles of the parts of cp's code on a device with the settings `config`."""
        code = ProcessorCycles.of(config).of_code
        return cls(
            code(_STEP),
            code(_LOAD),
            code(_STORE),
            code(_TRANSFER),
            code(_SLAB),
            code(_PATCH),
            code(_TURN) + _WAITS,
            code(_BEGIN),
        )
