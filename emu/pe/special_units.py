"""The special-function unit 510 of each cluster, and its control 509 (seed 000 ¶97).

After an instruction has started, the unit works by itself: `sfu.rate` results enter in each cycle,
and each is in the unit for `sfu.latency` cycles. In *chained* mode the unit takes the results from
its FIFO. Into this FIFO, one accumulator of every PE was copied when the instruction started. In
*decoupled* mode the unit takes the results from the output queues through selector 514. A token
with each result names its PE. Result 0 of every PE enters first, in the order of the PEs, then
result 1, and so on.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.arithmetic import activated, looked_up, requantise, rescale
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.element_types import dtype_of
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.sequence import REDUCE, REQUANTISE
from macaw.emu.pe.state import SFU, SfuJob
from macaw.isa.pe import REDUCTIONS, SCALAR_REDUCTIONS, TABLE

_ADDING = tuple(number for number, name in enumerate(REDUCTIONS) if name.endswith("add"))


class SpecialUnits:
    """The special-function units of a row, one for each cluster."""

    def __init__(self, context: RowContext, queues: OutputQueues) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.queues = queues

    def begin(self, cluster: int, job: SfuJob) -> None:
        """Start the instruction `job` in the special-function unit of a cluster.

        In decoupled mode, PEs without results are left out. Raises `Fault` if no PE has results, or
        if a PE has only some of its inputs.
        """
        state, source = self.state, job["source"]
        if job["chained"] >= 0:
            accumulator = state.accumulators[cluster, :, job["chained"]]
            state.sfu_fifo[cluster] = accumulator
            accumulator[...] = 0
        else:
            holders = self.queues.holders(cluster, np.array(source), job["count"], "spu")
            job["pes"] = holders.tolist()
        state.sfu_jobs[cluster] = job

    def cycle(self, now: int) -> None:
        """Simulate cycle `now` of each unit that executes an instruction. Raises `Fault`."""
        for cluster, job in enumerate(self.state.sfu_jobs):
            if job is not None:
                self.cycle_of(cluster, job, now)

    @property
    def at_work(self) -> bool:
        """Whether a unit executes an instruction, so that the next cycle must be simulated."""
        return any(job is not None for job in self.state.sfu_jobs)

    def cycle_of(self, cluster: int, job: SfuJob, now: int) -> None:
        self._enter(cluster, job, now - job["start"])
        self._leave(cluster, job, now - job["start"] - (self.shape.sfu_latency - 1))

    def _numbers(self, job: SfuJob, turn: int) -> NDArray[np.int64]:
        """Return the numbers of the results that enter the unit in cycle `turn` of `job`.

        Cycle 0 is the first one of the instruction `job`. Results are numbered in the order in
        which they enter: result 0 of each PE, result 1 of each PE, and so on.
        """
        rate, total = self.shape.sfu_rate, job["count"] * len(job["pes"])
        return np.arange(turn * rate, min((turn + 1) * rate, total))

    def _enter(self, cluster: int, job: SfuJob, turn: int) -> None:
        number = self._numbers(job, turn)
        if not number.size:
            return
        state, slot = self.state, turn % self.shape.sfu_latency
        pe = np.array(job["pes"])[number % len(job["pes"])]
        if job["chained"] >= 0:
            values = state.sfu_fifo[cluster, pe]
        else:
            place = np.array(job["source"])[pe] + number // len(job["pes"])
            values = state.output[cluster, pe, place]
            np.add.at(state.output_reads[cluster], pe, 1)
        state.sfu_pipe[cluster, slot, : number.size] = self.apply(cluster, job, values, pe)
        state.sfu_tokens[cluster, slot, : number.size] = pe

    def apply(
        self, cluster: int, job: SfuJob, values: NDArray[Any], pes: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Apply the function of the instruction `job` of a cluster to each number in `values`.

        `pes` has the PE of each value.
        """
        if job["function"] == REDUCE:
            return values
        value_type = dtype_of(job["element"])
        if job["function"] == REQUANTISE:
            if job["scaled"]:
                scales = self.state.scales[cluster, job["buffer"], pes]
                return rescale(values, scales, value_type)
            return requantise(values, job["shift"], value_type)
        if job["activation"] == TABLE:
            return looked_up(values, self.state.tables[cluster, job["buffer"]])
        return activated(values, job["activation"], job["shift"], value_type)

    def _leave(self, cluster: int, job: SfuJob, turn: int) -> None:
        number = self._numbers(job, turn) if turn >= 0 else np.arange(0)
        if not number.size:
            return
        state, slot = self.state, turn % self.shape.sfu_latency
        pe = state.sfu_tokens[cluster, slot, : number.size]
        values = state.sfu_pipe[cluster, slot, : number.size]
        if job["function"] == REDUCE:
            for result, value in zip((number // len(job["pes"])).tolist(), values, strict=True):
                self._combine(cluster, job, result, value)
        else:
            place = np.array(job["target"])[pe] + number // len(job["pes"])
            state.output[cluster, pe, place] = values
            np.add.at(state.output_writes[cluster], pe, 1)
        state.sfu_results += int(number.size)
        if int(number[-1]) + 1 == job["count"] * len(job["pes"]):
            self.finish(cluster, job)

    def _combine(self, cluster: int, job: SfuJob, result: int, value: Any) -> None:
        """Combine `value` with the present value of result number `result` of the reduction `job`.

        Raises `Fault`.
        """
        partial = job["partial"]
        if result == len(partial):
            partial.append(value)
        else:
            partial[result] = self._combined(cluster, job, partial[result], value)

    def _combined(self, cluster: int, job: SfuJob, left: Any, right: Any) -> Any:
        if job["reduction"] not in _ADDING:
            return np.maximum(left, right)
        total, overflow = self.context.adder.total(np.array([left]), np.array([right]))
        if overflow is not None:
            raise Fault(
                "accumulator overflow",
                f"cluster {cluster}: the reduction holds {left!s}, and {right!s} is to be added",
                {"cluster": cluster, "value": str(right)},
                address=self.context.clusters[cluster].running_address(SFU),
            )
        return total[0]

    def finish(self, cluster: int, job: SfuJob) -> None:
        """End a cluster's instruction `job`, whose last result has left the unit.

        Raises `Fault`.
        """
        if self.context.core.listeners:
            self.context.core.announce("sfu", cluster=cluster, buffer=job["buffer"])
        state = self.state
        if self.context.provenance is not None and job["function"] == REDUCE:
            self.context.provenance.end_reduction(cluster, job["partial"])
        state.sfu_jobs[cluster] = None
        target, count = job["target"][0], job["count"]
        if job["function"] != REDUCE:
            pes = np.array(job["pes"])
            self.queues.mark_written(cluster, np.array(job["target"])[pes], count, pes)
        elif job["reduction"] in SCALAR_REDUCTIONS:
            self._to_scalar_unit(cluster, job)
        else:
            self.give_to_first(cluster, target, job["partial"])

    def give_to_first(self, cluster: int, target: int, values: list[Any]) -> None:
        """Write `values` to the output queue of PE 0 of a cluster, from entry `target` on.

        In the other PEs, the same entries become empty.
        """
        state, count = self.state, len(values)
        state.output[cluster, 0, target : target + count] = values
        state.output_writes[cluster, 0] += count
        self.queues.mark_written(cluster, np.full(self.shape.pes, target), count)
        state.output_written[cluster, 1:, target : target + count] = False

    def _to_scalar_unit(self, cluster: int, job: SfuJob) -> None:
        """Combine each result of the reduction `job` with an accumulator of the scalar unit 604.

        An accumulator without a value takes the result unchanged. Raises `Fault`.
        """
        state, buffer = self.state, job["buffer"]
        sums, has_value = state.scalar_sums[cluster, buffer], state.scalar_held[cluster, buffer]
        for number, value in enumerate(job["partial"], job["target"][0]):
            new = self._combined(cluster, job, sums[number], value) if has_value[number] else value
            sums[number], has_value[number] = new, True

    def move_scalar(self, cluster: int, buffer: int, number: int, target: int) -> None:
        """Move an accumulator of a cluster's scalar unit to the output queue of PE 0 (`nonsf`).

        The value is not changed. `number` is the number of the accumulator, which belongs to
        instruction buffer `buffer`. `target` is the entry of the queue. Raises `Fault` if the
        accumulator has no value.
        """
        state = self.state
        if not state.scalar_held[cluster, buffer, number]:
            raise Fault(
                "queue underflow",
                f"cluster {cluster}: nothing was sent to scalar accumulator {number} of buffer"
                f" {buffer}",
                {"cluster": cluster, "buffer": buffer, "accumulator": number},
            )
        value = state.scalar_sums[cluster, buffer, number]
        self.give_to_first(cluster, target, [value])
        state.scalar_sums[cluster, buffer, number] = 0
        state.scalar_held[cluster, buffer, number] = False
