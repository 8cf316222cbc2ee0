"""The special-function units for the fast engine: all results of an instruction in one go.

Nobody else touches what an instruction takes and gives until it has ended, so its cycles need not
be looked at. Reductions, whose sums may fault, and instructions whose results go to places that
they have yet to read, run cycle by cycle.
"""

from __future__ import annotations

import numpy as np

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.output_queues import OutputQueues
from macaw.emu.pe.sequence import REDUCE
from macaw.emu.pe.special_units import SpecialUnits
from macaw.emu.pe.state import SfuJob


class FastSpecialUnits(SpecialUnits):
    """The special-function units of a row."""

    def __init__(self, context: RowContext, queues: OutputQueues) -> None:
        super().__init__(context, queues)
        self.begun = 0  # the first cycle that the units have not had for certain
        self._next: dict[int, int] = {}  # by cluster of an instruction that can wait: the same

    def begin(self, cluster: int, job: SfuJob) -> None:
        """An instruction begins."""
        super().begin(cluster, job)
        self._take(cluster, job, job["start"])

    def reload(self) -> None:
        """Go on from the declared state, at its cycle `reached`."""
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
        """Whether an instruction is at work whose cycles are not looked at."""
        return bool(self._next)

    @property
    def at_work(self) -> bool:
        """Whether the next cycle has to be looked at."""
        if not any(self.state.sfu_jobs):
            return False
        jobs = enumerate(self.state.sfu_jobs)
        return any(job is not None and cluster not in self._next for cluster, job in jobs)

    def cycle(self, now: int) -> None:
        """A cycle of each unit at work that has to be looked at; of all while somebody listens."""
        if self._next and self.context.core.listeners:
            self.catch_up(now, ended=False)
            self._next.clear()
        if any(self.state.sfu_jobs):
            for cluster, job in enumerate(self.state.sfu_jobs):
                if job is not None and cluster not in self._next:
                    self.cycle_of(cluster, job, now)
        self.begun = now + 1

    def catch_up(self, now: int, *, ended: bool) -> None:
        """Bring the units to the start of cycle `now`; `ended`: only what has ended before it."""
        for cluster in list(self._next):
            job = self.state.sfu_jobs[cluster]
            if not ended or self._last(job) < now:
                self._advance(cluster, job, now)

    def _last(self, job: SfuJob) -> int:
        """The cycle in which the last result leaves."""
        turns = -(-job["count"] * len(job["pes"]) // self.shape.sfu_rate)
        last: int = job["start"] + turns - 1 + self.shape.sfu_latency - 1
        return last

    def _advance(self, cluster: int, job: SfuJob, now: int) -> None:
        rate, latency = self.shape.sfu_rate, self.shape.sfu_latency
        state, pes = self.state, np.array(job["pes"])
        total = job["count"] * pes.size
        done, turns = self._next[cluster] - job["start"], now - job["start"]
        entered, enters = min(done * rate, total), min(turns * rate, total)
        left, leaves = (max(0, min((x - latency + 1) * rate, total)) for x in (done, turns))
        self._next[cluster] = now
        number = np.arange(left, enters)
        if not number.size:
            return
        pe, place = pes[number % pes.size], number // pes.size
        if job["chained"] >= 0:
            values = state.sfu_fifo[cluster, pe]
        else:
            values = state.output[cluster, pe, np.array(job["source"])[pe] + place]
            np.add.at(state.output_reads[cluster], pe[entered - left :], 1)
        values = self.apply(job, values)
        new = number[entered - left :]
        at = new // rate % latency, new % rate
        state.sfu_pipe[cluster][at] = values[entered - left :]
        state.sfu_tokens[cluster][at] = pe[entered - left :]
        gone = slice(0, leaves - left)
        to = np.array(job["target"])[pe[gone]] + place[gone]
        state.output[cluster, pe[gone], to] = values[gone]
        np.add.at(state.output_writes[cluster], pe[gone], 1)
        state.sfu_results += leaves - left
        if leaves == total:
            del self._next[cluster]
            self.finish(cluster, job)
