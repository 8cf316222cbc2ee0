"""The output queues 513 of a row (seed 000 ¶96-97): their contents, and moves of results."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe.state import Shape
from macaw.emu.state import State

Pes = NDArray[np.intp] | slice
EVERY_PE = slice(None)


class OutputQueues:
    """The output queues of all PEs of a row."""

    def __init__(self, state: State, shape: Shape) -> None:
        self.state, self.shape = state, shape
        self.pes = np.arange(shape.pes)

    def mark_written(
        self, cluster: int, starts: NDArray[Any], count: int, pes: Pes = EVERY_PE
    ) -> None:
        """Mark `count` entries of each PE in `pes` of a cluster as written.

        `starts` has the first entry of each of these PEs. Entries after the `count` entries, up to
        the end of the block in which these end, are marked as not written.
        """
        size = self.shape.output_block
        written = self.state.output_written[cluster]
        start = int(starts[0])
        if (starts == start).all():
            written[pes, start : start + count] = True
            written[pes, start + count : -(-(start + count) // size) * size] = False
            return
        place, ends = np.arange(self.shape.output_queue), starts[:, None] + count
        inside = (place >= starts[:, None]) & (place < ends)
        is_after = (place >= ends) & (place < -(-ends // size) * size)
        written[pes] = (written[pes] | inside) & ~is_after

    def holders(
        self, cluster: int, starts: NDArray[Any], count: int, what: str
    ) -> NDArray[np.intp]:
        """Return the numbers of the PEs of a cluster that have results in all of `count` entries.

        `starts`, of shape (PEs,), has the first entry of each PE. `what` names the instruction in
        messages. Raises `Fault` if no PE has results there, or if a PE has results in only some of
        the entries.
        """
        places = starts[:, None] + np.arange(count)
        written = self.state.output_written[cluster, self.pes[:, None], places]
        if written.all():
            return self.pes
        complete = written.all(axis=1)
        partial = written.any(axis=1) & ~complete
        if partial.any() or not complete.any():
            pe = int(np.flatnonzero(partial)[0]) if partial.any() else 0
            place = int(places[pe, np.flatnonzero(~written[pe])[0]])
            raise Fault(
                "queue underflow",
                f"{what}: nothing was written to place {place}"
                f" (block {place // self.shape.output_block}) of cluster {cluster}'s output queue",
                {"cluster": cluster, "pe": pe, "place": place},
            )
        return np.flatnonzero(complete)

    def move(self, cluster: int, source: NDArray[Any], target: NDArray[Any]) -> None:
        """Move one accumulator of each PE of a cluster to the PE's output queue, unchanged.

        This is the special function `nonsf`. The way is through buffer 508. The accumulator is
        cleared. `source` is the accumulator of each PE and `target` its entry in the queue, both of
        shape (PEs,).
        """
        state = self.state
        value = state.accumulators[cluster, self.pes, source]
        state.buffer[cluster] = value
        state.output[cluster, self.pes, target] = value
        state.accumulators[cluster, self.pes, source] = 0
        state.output_writes[cluster] += 1
        self.mark_written(cluster, target, 1)

    def bypass(self, cluster: int, source: NDArray[Any], target: NDArray[Any], count: int) -> None:
        """Copy `count` raw partial sums of each PE of a cluster past the SFU.

        The way is through selectors 514 and 515. `source` and `target`, of shape (PEs,), are the
        first entries to read and to write in each output queue. PEs without results are left out.
        Raises `Fault` if no PE has results, or if a PE has only some of the `count` results.
        """
        pes = self.holders(cluster, source, count, "spu")
        output, places = self.state.output[cluster], np.arange(count)
        to, of = target[pes][:, None] + places, source[pes][:, None] + places
        output[pes[:, None], to] = output[pes[:, None], of]
        self.state.output_reads[cluster, pes] += count
        self.state.output_writes[cluster, pes] += count
        self.mark_written(cluster, target[pes], count, pes)
