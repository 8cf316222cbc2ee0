"""The life of a run in a cluster: how it opens, loops back, triggers the next buffer and ends.

A run executes an instruction buffer for an exe. Each instruction buffer has its own program
counter, which loops implicitly. Buffers may trigger each other (seed 000 ¶104). At a loopback the
state of the sequence (`fifo`, `rq`, `sw`) determines which entries leave the weight queue 503
(¶122-123).
"""

from __future__ import annotations

import numpy as np

from macaw.emu.faults import Fault
from macaw.emu.pe import timing
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.instruction_buffers import Pairs, initial_operands, union, uses
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import FIFO, LD_BOTH, LD_WEIGHTS, UNIT_OF, WINDOW, takes_weights
from macaw.emu.pe.state import (
    DONE,
    LOADER,
    MAC,
    NOT_WRITTEN,
    STORE,
    WAITING,
    Ahead,
    Op,
    Packet,
    Run,
)
from macaw.emu.waits import NEVER
from macaw.isa.codec import Decoded

LANES = (0, 1)
# The fields of the state that are the contents of an instruction buffer.
BUFFER_FIELDS = ("headers", "words", "steps", "strides", "types", "scaled", "origins", "registers")


class RunLifecycle:
    """Opens, loops and ends the runs of one cluster."""

    def __init__(self, cluster: Cluster, units: RowUnits) -> None:
        self.cluster, self.state, self.shape = cluster, cluster.state, cluster.shape
        self.units, self.core = units, units.context.core
        self.store_count = 0  # stores of the run that was opened last; `open_like` copies it

    # Opening

    def _checked_chain(self, number: int, address: int) -> list[int]:
        """Return the number of a buffer, followed by the numbers of the buffers that it triggers.

        Raises `Fault` at `address` if one of these buffers is empty or the chain has no end.
        """
        chain = self.cluster.chain(number)
        empty = next((buffer for buffer in chain if not self.cluster.buffer(buffer).words), None)
        c = self.cluster.number
        if empty is not None:
            why = "exe" if empty == number else f"exe ib={number}, then"
            raise Fault(
                "uninitialised instruction buffer",
                f"{why} ib={empty}: cluster {c} has no sequence in this buffer",
                {"cluster": c, "buffer": empty},
                address=address,
            )
        then = self.cluster.buffer(chain[-1]).then
        if then is not None:
            raise Fault(
                "malformed packet",
                f"exe ib={number}: the buffers {', '.join(map(str, chain))} trigger each other"
                " without end",
                {"cluster": c, "buffer": number},
                address=address,
            )
        return chain

    def open(self, packet: Packet, address: int) -> Run:
        """Return a new run for a packet whose first beat is sent now.

        `address` is the address of the packet. Raises `Fault` if a buffer is empty, if buffers
        trigger each other without end, if the segments do not suit the loads, or if results do not
        fit into the half.
        """
        c, number = self.cluster.number, packet["buffer"]
        chain = self._checked_chain(number, address)
        out = packet["out"]
        assert out is not None  # an exe has one
        self.state.segment_entries[c, number] = 0
        self.state.queue_types[c, number] = 0
        run = Run(
            buffer=number,
            order=packet["order"],
            number=packet["number"],
            chain=chain[1:],
            iteration=0,
            iterations=1,
            looped=False,
            initial=[],
            written_back=[],
            unwritten=[],
            ahead=None,
            segments=packet["segments"],
            taken=0,
            sharers=len(packet["clusters"]),
            command=(packet["shift"], packet["last"]),
            live=False,
            issue_at=[NEVER] * len(LANES),
            out=out,
            stored=0,
            span=None,
            reach=-1,
            has_weights=False,
            held=False,
            receives=False,
            ops=[],
        )
        self._rewind(run)
        buffers = [self.cluster.buffer(one) for one in chain]
        run["has_weights"] = any(_takes_weights(row) for one in buffers for row in one.rows)
        self.expand(run)
        run["ahead"] = self._ahead(run)
        self.store_count = sum(self._stores(run, one) for one in chain)
        run["span"] = self.units.stores.span(c, out, self.store_count, address)
        return run

    def equal_clusters(self, clusters: list[int], number: int) -> list[bool]:
        """Return, for each of `clusters`, whether its buffers are equal to those of this cluster.

        The method compares the contents of buffer `number` and of the buffers that it triggers.
        """
        if clusters == [self.cluster.number]:
            return [True]
        chain = self.cluster.chain(number)
        own = self._contents(self.cluster.number, chain)
        return [self._contents(cluster, chain) == own for cluster in clusters]

    def _contents(self, cluster: int, buffers: list[int]) -> list[bytes]:
        """Return the bytes of all fields of some instruction buffers of a cluster."""
        fields = [getattr(self.state, name) for name in BUFFER_FIELDS]
        return [field[cluster, number].tobytes() for field in fields for number in buffers]

    def open_like(self, other: RunLifecycle, packet: Packet, address: int) -> Run:
        """Return a copy of the run that `other` has just opened in a cluster with equal buffers.

        `packet` is the packet of both runs, `address` its address. Raises `Fault` if the results of
        this cluster do not fit into the half.
        """
        model = other.cluster.run_for(packet)
        self.state.segment_entries[self.cluster.number, model["buffer"]] = 0
        self.state.queue_types[self.cluster.number, model["buffer"]] = 0
        self.store_count = other.store_count
        run = model.copy()
        run["chain"], run["issue_at"] = list(run["chain"]), list(run["issue_at"])
        run["written_back"], run["unwritten"] = list(run["written_back"]), []
        run["ops"] = [op.copy() for op in model["ops"]]
        for op in run["ops"]:
            op["segments"], op["beats"] = list(op["segments"]), []
        run["span"] = self.units.stores.span(
            self.cluster.number, run["out"], self.store_count, address
        )
        return run

    def _rewind(self, run: Run) -> None:
        """Set a run to the first iteration of its buffer."""
        run["iteration"], run["looped"] = 0, False
        run["iterations"] = self.cluster.buffer(run["buffer"]).iterations
        run["initial"] = initial_operands(self.state, self.cluster.number, run["buffer"])
        count = len(run["initial"])
        run["written_back"], run["unwritten"], run["ops"] = [NOT_WRITTEN] * count, [], []

    def _expansion(
        self, run: Run, number: int, operands: Pairs, iteration: int, taken: int, last: bool
    ) -> tuple[list[Op], int]:
        """Return the steps of one iteration of buffer `number`, and a segment number.

        The other arguments are those of `Expansion`: the operands of the iteration, the number of
        the first segment that no earlier iteration takes (`taken`), and whether the iteration must
        take all remaining segments (`last`). The second result is the number of the first segment
        that is left after this iteration. Raises `Fault`.
        """
        return self.units.expansions.expand(
            self.cluster.buffer(number),
            operands,
            run["command"],
            run["segments"],
            run["out"],
            run["sharers"],
            self.shape.address(int(self.state.origins[self.cluster.number, number])),
            next_segment=taken,
            iteration=iteration,
            last=last,
        )

    def expand(self, run: Run) -> None:
        """Append the steps of the present iteration to the run. Raises `Fault`."""
        iteration = run["iteration"]
        ops, run["taken"] = self.steps_of(run, iteration, run["taken"])
        run["ops"] += ops
        self.cluster.set_reads(run)
        if self._is_last(run, iteration):
            run["ahead"] = None

    def steps_of(self, run: Run, iteration: int, taken: int) -> tuple[list[Op], int]:
        """Return the steps of an iteration of the run's buffer, and a segment number.

        `taken` is the number of the first segment that no earlier iteration takes. The second
        result is the number of the first segment that is left after this iteration. Raises `Fault`.
        """
        operands = self.cluster.buffer(run["buffer"]).operands(run["initial"], iteration)
        last = self._is_last(run, iteration)
        return self._expansion(run, run["buffer"], operands, iteration, taken, last)

    def _is_last(self, run: Run, iteration: int) -> bool:
        return iteration + 1 == run["iterations"] and not run["chain"]

    def _ahead(self, run: Run) -> Ahead | None:
        """Return the accumulators and blocks that a run and the buffers it triggers may use.

        The result is None if the run has only one iteration and triggers no buffer.
        """
        if run["iterations"] == 1 and not run["chain"]:
            return None
        ahead = None
        for number in (run["buffer"], *run["chain"]):
            initial = initial_operands(self.state, self.cluster.number, number)
            results = max(run["out"]["count"], 1)
            ahead = union(ahead, uses(self.shape, self.cluster.buffer(number), initial, results))
        return ahead

    def _stores(self, run: Run, number: int) -> int:
        """Return the number of stores in all iterations of a run's buffer `number`.

        Stores that flags of the exe add to the sequence (streams) count, too. Raises `Fault`.
        """
        if number == run["buffer"]:
            ops = run["ops"]
        else:  # the steps of a later iteration, whose lds need no segments
            initial = initial_operands(self.state, self.cluster.number, number)
            taken = len(run["segments"])
            ops, _ = self._expansion(run, number, initial, 1, taken, False)
        stores = sum(op["unit"] == STORE for op in ops)
        return stores * self.cluster.buffer(number).iterations

    # The loopback

    def loop_back(self, run: Run) -> None:
        """End the present iteration of a run and start the next one, if that is possible now.

        Do nothing if the last iteration has already ended, if weights of another run are before the
        run's weights in the queue, or if an ld or mac of the iteration has not ended. Also do
        nothing if another iteration follows and one of the other steps has not started.

        The state of the sequence determines which weights leave the queue. After the last iteration
        no steps are added. Raises `Fault`.
        """
        if run["looped"] or (run["has_weights"] and not self.heads_queue(run)):
            return
        ops = run["ops"]
        last = run["iteration"] + 1 == run["iterations"]
        for op in ops:
            if op["state"] != DONE and op["unit"] in (LOADER, MAC):
                return
            if op["state"] == WAITING and not last:
                return
        run["held"] |= any(takes_weights(op) for op in ops)
        header = self.cluster.buffer(run["buffer"]).header
        if header["state"] == FIFO or (last and not self._hands_on(run, header["state"])):
            self._leave_queue(run, self._entries(run))
            run["held"], run["reach"] = False, -1
        elif header["state"] == WINDOW and not last:
            self._slide(run, header)
        if last:
            run["looped"] = True
            run["has_weights"] &= bool(run["chain"])
            return
        run["iteration"] += 1
        if self.core.listeners:
            self.core.announce(
                "loopback",
                cluster=self.cluster.number,
                buffer=run["buffer"],
                iteration=run["iteration"],
            )
        run["ops"] = [op for op in ops if op["state"] != DONE]
        self.expand(run)

    def _entries(self, run: Run) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
        entries: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
        entries = self.state.segment_entries[self.cluster.number, run["buffer"]]
        return entries

    def _hands_on(self, run: Run, state: int) -> bool:
        """Return whether the weights stay in the queue for the buffer that the run triggers next.

        They stay if the sequence in that buffer has the same `state`, which says how weights are
        reused.
        """
        chain = run["chain"]
        return bool(chain) and self.cluster.buffer(chain[0]).header["state"] == state

    def _slide(self, run: Run, header: dict[str, int]) -> None:
        """Move the sliding window of a run by `pop` entries; after an inner loop drop the window.

        `header` is the header of the run's sequence. Raises `Fault` if a weight queue has fewer
        entries of the run than must leave it.
        """
        if not run["held"]:
            return
        ends_inner = (run["iteration"] + 1) % header["inner"] == 0
        amount = header["window" if ends_inner else "pop"]
        entries = self._entries(run)
        if (entries < amount).any():
            count = int(entries.min())
            raise Fault(
                "queue underflow",
                f"cluster {self.cluster.number}: the loopback pops {amount} entries of the sliding"
                f" window, {count} are left",
                {"cluster": self.cluster.number, "buffer": run["buffer"], "entries": count},
                address=self.cluster.address(run, run["ops"][-1]),
            )
        self._leave_queue(run, np.full_like(entries, amount))

    def _leave_queue(
        self, run: Run, entries: np.ndarray[tuple[int, ...], np.dtype[np.int64]]
    ) -> None:
        """Remove the weights of a run from the head of each PE's weight queue.

        `entries` (PEs,) is the number of entries to remove.
        """
        state, c = self.state, self.cluster.number
        state.weight_head[c] = (state.weight_head[c] + entries) % self.shape.weight_queue
        state.weight_count[c] -= entries
        state.segment_entries[c, run["buffer"]] = state.segment_entries[c, run["buffer"]] - entries
        if not state.segment_entries[c, run["buffer"]].any():
            state.queue_types[c, run["buffer"]] = 0

    def heads_queue(self, run: Run) -> bool:
        """Return whether the run's weights are at the head of the weight queue."""
        for other in self.cluster.runs:
            if other["has_weights"]:
                return other is run
        return False

    # The end

    def is_over(self, run: Run) -> bool:
        """Return whether all steps of a run are done and its last iteration has looped back."""
        return run["looped"] and all(op["state"] == DONE for op in run["ops"])

    def end_buffer(self, run: Run, now: int) -> None:
        """Free the buffer of a run from cycle `now` on, because the run has finished there.

        If the buffer triggers another buffer, the run continues in that buffer. Otherwise it ends.
        """
        runs, c = self.cluster.runs, self.cluster.number
        at = runs.index(run)
        if not run["chain"]:
            del runs[at]
            if self.core.tracing:
                self.units.trace.end_run(run)
            if self.core.listeners:
                own = (cluster.runs for cluster in self.units.context.clusters)
                remaining = sum(other["order"] == run["order"] for runs in own for other in runs)
                self.core.announce(
                    "end", cluster=c, buffer=run["buffer"], order=run["order"], left=remaining
                )
            return
        number = run["chain"][0]
        follower = run.copy()  # the exe stays the same, and so do its counts of segments and stores
        follower["buffer"], follower["chain"] = number, run["chain"][1:]
        follower["issue_at"] = [timing.first_start(now - 1)] * len(LANES)
        self._rewind(follower)
        entries = self.state.segment_entries
        entries[c, number] = entries[c, run["buffer"]]
        self.state.queue_types[c, number] = self.state.queue_types[c, run["buffer"]]
        runs[at] = follower
        if self.core.listeners:
            self.core.announce("trigger", cluster=c, buffer=number, order=run["order"])
        self.expand(follower)
        self.cluster.wake(follower["issue_at"][0])


def _takes_weights(row: Decoded) -> bool:
    if UNIT_OF[row.row.mnemonic] != LOADER:
        return False
    return row.values["destination"] in (LD_WEIGHTS, LD_BOTH)
