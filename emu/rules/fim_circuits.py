"""The timing rules of an island's circuits: operations, repeats, buffers, the end of a block.

Times are device cycles; a circuit acts at multiples of its island's divider, `step`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from macaw.emu.rules.fim_dram import align_up
from macaw.isa.fim_circuit import ARRANGEMENTS, FORMATS, FUNCTION_NAMES, RZ, Operation
from macaw.isa.fim_islands import Abilities


class Latency(NamedTuple):
    """Cycles of the island's clock from an operation to the next one, and to its result.

    `products` of the ALU's lanes take `passes` cycles.
    """

    busy: int
    result: int
    products: int
    passes: int


@dataclass(frozen=True)
class AluTimings:
    """What the latency of an island's ALU depends on."""

    functions: tuple[int, ...]  # cycles, by a function's number
    tree: int  # cycles of a level of the adder tree
    lanes: int  # products a cycle

    @classmethod
    def of(cls, config: Mapping[str, Any], able: Abilities) -> AluTimings:
        """Return the timings of an island with these abilities."""
        functions = tuple(int(config[f"fim.alu.{name}"]) for name in FUNCTION_NAMES)
        return cls(functions, int(config["fim.alu.tree"]), able.lanes)

    def latency(self, function: int, arrangement: int, form: int, accumulates: bool) -> Latency:
        """Return the latency of an operation; the numbers are those of `mmr`."""
        work = ARRANGEMENTS[arrangement].work(FORMATS[form].lanes)
        passes = -(-work.products // self.lanes)
        last_sum = self.functions[FUNCTION_NAMES.index("add")] if accumulates else 0
        result = self.functions[function] + work.levels * self.tree + last_sum + passes - 1
        return Latency(max(passes, last_sum), result, work.products, passes)


def operation_start(operation: Operation, time: int, alu_free: int, rz_ready: int) -> int:
    """Return when an operation may start if its registers are there at `time`."""
    if operation.computes and alu_free > time:
        time = alu_free
    if operation.left == RZ and rz_ready > time:
        time = rz_ready
    return time


def repeat_period(operation: Operation, busy: int, t_ccdl: int, step: int) -> tuple[int, int]:
    """Return the cycles between repeats of an operation: those of the circuit alone, and all.

    `busy` is the ALU's, in the island's clock.
    """
    circuit = step * busy if operation.computes else step
    return circuit, max(circuit, align_up(t_ccdl, step)) if operation.has_column else circuit


def columns_stored(start: int, end: int, arrivals: Sequence[int], count: int) -> int | None:
    """Return the cycle from which on `count` columns of a buffer lie before its end pointer.

    `arrivals` has the cycles in which the last columns before `end` are stored, the earliest first.
    None: fewer columns have been pushed.
    """
    later = end - start - count  # columns after these
    if later < 0:
        return None
    return 0 if later >= len(arrivals) else arrivals[-1 - later]


def all_stored(arrivals: Sequence[int]) -> int:
    """Return the cycle from which on all pushed columns of a buffer are stored."""
    return arrivals[-1] if arrivals else 0


def pointer_start(part: str, arrivals: Sequence[int], write_ends: Iterable[int]) -> int:
    """Return the cycle from which on an `mmr` may move a pointer of a buffer (seed 004 ¶48-50).

    `low` and `end` move once all pushed columns are stored. `end` moves once the block's own
    writes have ended, too (`write_ends`): it declares that these columns are there.
    """
    if part not in ("low", "end"):
        return 0
    return max(all_stored(arrivals), *write_ends) if part == "end" else all_stored(arrivals)


def block_end(rz_ready: int, push_end: int, pull_end: int, write_ends: Iterable[int]) -> int:
    """Return the cycle from which on a block may end: all its results and columns are there."""
    return max(rz_ready, push_end, pull_end, *write_ends)
