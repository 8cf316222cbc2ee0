"""The special-function units in the fast engine: it computes all results of an instruction at once.

Until an instruction has ended, no other instruction reads or writes its inputs and outputs. So the
engine need not simulate the cycles of the instruction. It simulates two kinds of instructions cycle
by cycle: reductions, whose sums may fault, and instructions that write queue entries that they read
later.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.sequence import REDUCE
from macaw.emu.pe.special_units import SpecialUnits
from macaw.emu.pe.state import SfuJob


class FastSpecialUnits(SpecialUnits):
    """The special-function units of a row in the fast engine."""

    def __init__(self, context: RowContext, queues: OutputQueues) -> None:
        super().__init__(context, queues)
        self.simulated_to = 0  # the first cycle that some units may not have done
        # by cluster whose cycles are skipped: the next cycle of its unit
        self._next: dict[int, int] = {}

    def begin(self, cluster: int, job: SfuJob) -> None:
        """Start a cluster's instruction `job`, and skip its cycles if possible. Raises `Fault`."""
        super().begin(cluster, job)
        self._take(cluster, job, job["start"])

    def reload(self) -> None:
        """Continue from the declared state; the next cycle is `state.reached`."""
        self._next = {}
        for cluster, job in enumerate(self.state.sfu_jobs):
            if job is not None:
                self._take(cluster, job, max(self.state.reached, job["start"]))

    def _take(self, cluster: int, job: SfuJob, cycle: int) -> None:
        if job["function"] == REDUCE:
            return
        if job["chained"] < 0 and job["source"] != job["target"]:
            first, last = min(job["source"]), max(job["source"]) + job["count"]
            if min(job["target"]) < last and first < max(job["target"]) + job["count"]:
                return
        self._next[cluster] = cycle

    @property
    def waits(self) -> bool:
        """Whether a unit executes an instruction whose cycles are skipped until it ends."""
        return bool(self._next)

    @property
    def at_work(self) -> bool:
        """Whether a unit executes an instruction whose next cycle must be simulated."""
        if not any(self.state.sfu_jobs):
            return False
        jobs = enumerate(self.state.sfu_jobs)
        return any(job is not None and cluster not in self._next for cluster, job in jobs)

    def cycle(self, now: int) -> None:
        """Simulate cycle `now` of the units whose cycles are not skipped.

        While the row has listeners, no cycles are skipped. Raises `Fault`.
        """
        if self._next and self.context.core.listeners:
            self.catch_up(now, only_ended=False)
            self._next.clear()
        if any(self.state.sfu_jobs):
            for cluster, job in enumerate(self.state.sfu_jobs):
                if job is not None and cluster not in self._next:
                    self.cycle_of(cluster, job, now)
        self.simulated_to = now + 1

    def catch_up(self, now: int, *, only_ended: bool) -> None:
        """Bring the units whose cycles are skipped to the start of cycle `now`.

        With `only_ended`, do so only for units whose instruction ended before `now`.
        """
        for cluster in list(self._next):
            job = self.state.sfu_jobs[cluster]
            if not only_ended or self._last(job) < now:
                self._advance(cluster, job, now)

    def _last(self, job: SfuJob) -> int:
        """Return the cycle in which the last result of the instruction `job` leaves the unit."""
        turns = -(-job["count"] * len(job["pes"]) // self.shape.sfu_rate)
        last: int = job["start"] + turns - 1 + self.shape.sfu_latency - 1
        return last

    def _advance(self, cluster: int, job: SfuJob, now: int) -> None:
        if now == self._next[cluster]:
            return
        rate, latency = self.shape.sfu_rate, self.shape.sfu_latency
        state, pes = self.state, np.array(job["pes"])
        total = job["count"] * pes.size
        turns_before, turns = self._next[cluster] - job["start"], now - job["start"]
        entered, enters = min(turns_before * rate, total), min(turns * rate, total)
        leaves_before, leaves = (
            max(0, min((x - latency + 1) * rate, total)) for x in (turns_before, turns)
        )
        self._next[cluster] = now
        number = np.arange(leaves_before, enters)
        if not number.size:
            return
        pe, place = pes[number % pes.size], number // pes.size
        if job["chained"] >= 0:
            values = state.sfu_fifo[cluster, pe]
        else:
            values = state.output[cluster, pe, np.array(job["source"])[pe] + place]
            np.add.at(state.output_reads[cluster], pe[entered - leaves_before :], 1)
        values = self.apply(cluster, job, values, pe)
        new = number[entered - leaves_before :]
        at = new // rate % latency, new % rate
        state.sfu_pipe[cluster][at] = values[entered - leaves_before :]
        state.sfu_tokens[cluster][at] = pe[entered - leaves_before :]
        leaving = slice(0, leaves - leaves_before)
        to = np.array(job["target"])[pe[leaving]] + place[leaving]
        state.output[cluster, pe[leaving], to] = values[leaving]
        np.add.at(state.output_writes[cluster], pe[leaving], 1)
        state.sfu_results += leaves - leaves_before
        if leaves == total:
            del self._next[cluster]
            self.finish(cluster, job)
