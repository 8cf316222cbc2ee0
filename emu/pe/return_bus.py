"""The return bus of a row: it writes the beats of stores to on-chip memory, one in each cycle.

The clusters take turns: after each beat the next cluster comes first.
"""

from __future__ import annotations

from macaw.emu.pe.context import RowContext
from macaw.emu.pe.row_trace import RowTrace
from macaw.emu.pe.state import FREE, STORE


class ReturnBus:
    """The return bus of one row."""

    def __init__(self, context: RowContext, trace: RowTrace) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.trace = trace

    def choose(self) -> bool:
        """Choose the cluster that writes the next beat. Return whether there is a beat to request.

        There is none while a chosen beat is not written. The clusters take turns.
        """
        state = self.state
        if state.returning != FREE:
            return False
        for units in state.units:
            if units[STORE] != FREE:
                break
        else:
            return False
        for turn in range(self.shape.clusters):
            cluster = (state.return_turn + turn) % self.shape.clusters
            if state.units[cluster][STORE] == FREE:
                continue
            if self.context.clusters[cluster].storing() is not None:
                state.returning = cluster
                state.returned = FREE
                return True
        return False

    def request(self) -> None:
        """Request the next beat of the chosen cluster from memory."""
        cluster, memory = self.state.returning, self.context.memory
        op = self.context.clusters[cluster].storing()
        assert op is not None  # the cluster was chosen because of this store
        ranges, data = op["beats"][0]
        if self.context.core.tracing:
            memory.return_port.instruction = self.trace.storing(cluster)
        memory.write(ranges, data)

    def take_in(self) -> None:
        """Count the written beat. If it was the last beat of its store, end the store."""
        state = self.state
        if state.returning == FREE or state.returned == FREE:
            return
        cluster = state.returning
        op = self.context.clusters[cluster].storing()
        assert op is not None  # the run of which a beat was written
        state.return_beats += 1
        state.return_bytes += len(op["beats"][0][1])
        state.return_turn = (cluster + 1) % self.shape.clusters
        state.returning = FREE
        self.context.clusters[cluster].remove_store_beat(state.returned)
