"""Timing rules of an island's circuits: operations, repeats, buffers and the end of a block.

Times are device cycles. A circuit acts only at multiples of `step`, the divider of its island.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from macaw.emu.rules.fim_dram import align_up
from macaw.isa.fim_circuit import ARRANGEMENTS, FORMATS, FUNCTION_NAMES, IOSA, RZ, Operation
from macaw.isa.fim_islands import Abilities
from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple


class Latency(NamedTuple):
    """The latency of an operation, in cycles of the island's clock.

    `busy` is the time until the next operation may start, `result` the time until the result is
    ready. The operation computes `products` products. The ALU needs `passes` cycles for them,
    because each of its lanes computes one product in a cycle.
    """

    busy: int
    result: int
    products: int
    passes: int


@dataclass(frozen=True)
class AluTimings:
    """The settings that determine the latency of an island's ALU.

    `functions` has the cycles of each function by its number, `tree` is the cycles of one level of
    the adder tree, `lanes` the number of products in each cycle.
    """

    functions: tuple[int, ...]
    tree: int
    lanes: int

    @classmethod
    def of(cls, config: Mapping[str, Any], able: Abilities) -> AluTimings:
        """Return the timings of an island that has the abilities `able`."""
        functions = tuple(int(config[f"fim.alu.{name}"]) for name in FUNCTION_NAMES)
        return cls(functions, int(config["fim.alu.tree"]), able.lanes)

    def latency(self, function: int, arrangement: int, form: int, accumulates: bool) -> Latency:
        """Return the latency of an operation; `accumulates` says whether it adds to Rz.

        `function`, `arrangement` and `form` (the number format) are numbers as `mmr` writes them.
        """
        work = ARRANGEMENTS[arrangement].work(FORMATS[form].lanes)
        passes = -(-work.products // self.lanes)
        last_sum = self.functions[FUNCTION_NAMES.index("add")] if accumulates else 0
        result = self.functions[function] + work.levels * self.tree + last_sum + passes - 1
        return Latency(max(passes, last_sum), result, work.products, passes)


def operation_start(operation: Operation, time: int, alu_free: int, rz_ready: int) -> int:
    """Return the first cycle in which an operation may start.

    The operation's registers are ready in cycle `time`, the ALU is free from cycle `alu_free` on,
    and Rz is ready in cycle `rz_ready`.
    """
    if operation.computes and alu_free > time:
        time = alu_free
    if operation.left == RZ and rz_ready > time:
        time = rz_ready
    return time


def column_lead(operation: Operation, t_column: int, step: int) -> int:
    """Return how many cycles after its column command an operation reads its registers.

    If the operation reads a column of the DRAM, this column needs `t_column` cycles from the sense
    amplifiers to the circuit. The result is this time, rounded up to a multiple of `step`. For
    other operations it is 0.
    """
    return align_up(t_column, step) if IOSA in operation.reads else 0


def repeat_period(operation: Operation, busy: int, t_ccdl: int, step: int) -> tuple[int, int]:
    """Return two distances in cycles, from the start of a repeat of an operation to the next start.

    The first distance is the time that the circuit alone needs. The second distance also includes
    the waits for the column commands of the bank. `t_ccdl` is the constraint for column commands of
    one bank. `busy` is the time for which the ALU is busy, in cycles of the island's clock. Such a
    cycle has `step` device cycles; the results are device cycles.
    """
    circuit = step * busy if operation.computes else step
    return circuit, max(circuit, align_up(t_ccdl, step)) if operation.has_column else circuit


def columns_stored(start: int, end: int, arrivals: Sequence[int], count: int) -> int | None:
    """Return the cycle from which the first `count` columns of a buffer are stored.

    The buffer has the columns `start` to `end` - 1 (pointers that count columns). `arrivals` has,
    in ascending order, the cycles in which the last few columns are stored; cycles of earlier
    columns are dropped. The result is None if fewer than `count` columns have been pushed, and 0 if
    `arrivals` no longer has the cycle for these columns.
    """
    later = end - start - count  # number of columns after the first `count`
    if later < 0:
        return None
    return 0 if later >= len(arrivals) else arrivals[-1 - later]


def all_stored(arrivals: Sequence[int]) -> int:
    """Return the first cycle in which all columns that were pushed into a buffer are stored.

    `arrivals` has, in ascending order, the cycles in which the last few columns are stored.
    Earlier columns are already stored. The result is 0 if `arrivals` is empty.
    """
    return arrivals[-1] if arrivals else 0


def pointer_start(part: str, arrivals: Sequence[int], write_ends: Iterable[int]) -> int:
    """Return the first cycle in which an `mmr` may move a pointer of a buffer (seed 004 ¶48-50).

    `part` names the pointer. The pointers `low` and `end` may move when all pushed columns are
    stored: `arrivals` has, in ascending order, the cycles in which the last few columns are stored.
    A block of code that moves `end` declares that the columns before it are stored, so `end` also
    waits until the block's own writes have ended (`write_ends`). Other pointers may move at once:
    the result is 0.
    """
    if part not in ("low", "end"):
        return 0
    return max(all_stored(arrivals), *write_ends) if part == "end" else all_stored(arrivals)


def block_end(rz_ready: int, push_end: int, pull_end: int, write_ends: Iterable[int]) -> int:
    """Return the first cycle in which a block of an island's code may end.

    It must have all results and columns. Its results in the register Rz are ready in cycle
    `rz_ready`, its pushed columns are stored from cycle `push_end` on, its pulled columns have
    arrived in cycle `pull_end`, and its writes have ended in the cycles `write_ends`.
    """
    return max(rz_ready, push_end, pull_end, *write_ends)
