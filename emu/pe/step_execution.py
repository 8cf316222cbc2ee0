"""Executes a step of a run in the cycle in which it starts, and computes its end if possible.

There is one function for each `Op.name`. The ends of three kinds of steps are not known at their
start: the data path ends a mac, the return bus ends a store, and the last beat ends a load.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.faults import Fault
from macaw.emu.pe import timing
from macaw.emu.pe.cluster import Cluster
from macaw.emu.pe.element_types import ACTIVATIONS_TYPE, check_mac
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.sequence import MEMBERS, WINDOW, decode_word, takes_weights
from macaw.emu.pe.state import COMPUTING, Op, Run, SfuJob
from macaw.emu.waits import NEVER
from macaw.isa.pe import SCALAR_SOURCE

_STATE, _WINDOW = MEMBERS.index("state"), MEMBERS.index("window")


class StepExecution:
    """Starts the steps of one cluster."""

    def __init__(self, cluster: Cluster, units: RowUnits) -> None:
        self.cluster, self.state, self.shape = cluster, cluster.state, cluster.shape
        self.units, self.context = units, units.context
        self._by_name = {
            "skip": self._start_skip,
            "ld": self._start_ld,
            "ld_queue": self._start_ld_queue,
            "mac": self._start_mac,
            "move": self._start_move,
            "bypass": self._start_bypass,
            "scalar": self._start_scalar,
            "special": self._start_special,
            "store": self._start_store,
        }

    def start(self, run: Run, op: Op, now: int) -> None:
        """Start step `op` of a run in cycle `now`. Raises `Fault`."""
        if self.context.provenance is not None:
            self.context.provenance.record_step(self.cluster, run, op)
        self._by_name[op["name"]](run, op, now)

    def _start_ld(self, run: Run, op: Op, now: int) -> None:
        if op["last"] < NEVER:
            op["end"] = timing.ld_end(op["last"], now)

    def _start_skip(self, run: Run, op: Op, now: int) -> None:
        op["end"] = now

    def _start_ld_queue(self, run: Run, op: Op, now: int) -> None:
        source, _ = self.cluster.operands(run, op)
        self.units.loading.psums_from_queue(self.cluster.number, source)
        op["end"] = timing.psums_end(now)

    def _start_mac(self, run: Run, op: Op, now: int) -> None:
        c = self.cluster.number
        ops = run["ops"]
        has_loaded = any(takes_weights(other) for other in ops[: ops.index(op)])
        if not has_loaded and not run["held"]:
            message = "mac without weights: no ld of its sequence has loaded any"
            raise Fault("queue underflow", message, {"cluster": c, "buffer": run["buffer"]})
        base, total = self.cluster.operands(run, op)
        word = int(self.state.words[c, run["buffer"], op["place"]])
        balance = bool(decode_word(word).values["balance"])
        check_mac(self.state, self.shape, c, run["buffer"], base, run["reach"])
        limit = self.cluster.activation_limits(base)
        self.cluster.set_activity(COMPUTING, now)
        if self.context.core.tracing:
            self.units.trace.begin_mac(c)
        self.state.mac_left[c] = self._entries(run)
        self.context.arrays.start_mac(c, base, total, limit, balance)

    def _entries(self, run: Run) -> NDArray[Any]:
        """Return how many weight entries a mac of a run examines in each PE, of shape (PEs,).

        In a sliding window, also set the index of each entry to its position in the window. Raises
        `Fault`.
        """
        state, c = self.state, self.cluster.number
        entries: NDArray[Any] = state.segment_entries[c, run["buffer"]]
        if state.headers[c, run["buffer"], _STATE] != WINDOW:
            return entries
        window = int(state.headers[c, run["buffer"], _WINDOW])
        if (entries < window).any():
            count = int(entries.min())
            message = f"cluster {c}: a window of {window} entries, the weight queue holds {count}"
            raise Fault("queue underflow", message, {"cluster": c, "entries": count})
        places = (state.weight_head[c][:, None] + np.arange(window)) % self.shape.weight_queue
        state.weight_index[c, np.arange(self.shape.pes)[:, None], places] = np.arange(window)
        return np.full_like(entries, window)

    def _start_move(self, run: Run, op: Op, now: int) -> None:
        source, target = self.cluster.operands(run, op)
        self.units.queues.move(self.cluster.number, source, target)
        op["end"] = timing.move_end(now, 1)

    def _start_bypass(self, run: Run, op: Op, now: int) -> None:
        source, target = self.cluster.operands(run, op)
        count = max(run["out"]["count"], 1)
        self.units.queues.bypass(self.cluster.number, source, target, count)
        op["end"] = timing.move_end(now, count)

    def _start_special(self, run: Run, op: Op, now: int) -> None:
        source, target = self.cluster.operands(run, op)
        header = self.state.headers[self.cluster.number, run["buffer"]]
        chained = op["chained"] >= 0
        count = 1 if chained else max(run["out"]["count"], 1)
        job = SfuJob(
            buffer=run["buffer"],
            start=now,
            chained=op["chained"],
            function=op["function"],
            activation=int(header[MEMBERS.index("activation")]),
            reduction=int(header[MEMBERS.index("reduction")]),
            pes=list(range(self.shape.pes)),
            partial=[],
            shift=int(header[MEMBERS.index("shift")]),
            scaled=bool(self.state.scaled[self.cluster.number, run["buffer"]]),
            element=int(self.state.types[self.cluster.number, run["buffer"], ACTIVATIONS_TYPE]),
            count=count,
            source=source.tolist(),
            target=target.tolist(),
        )
        self.units.special.begin(self.cluster.number, job)
        if chained:
            op["freed"] = now
            self.cluster.wake(now + 1)
        results = count * len(job["pes"])
        op["end"] = timing.sfu_end(now, results, self.shape.sfu_rate, self.shape.sfu_latency)

    def _start_scalar(self, run: Run, op: Op, now: int) -> None:
        source, target = (int(entry[0]) for entry in self.cluster.operands(run, op))
        special = self.units.special
        special.move_scalar(self.cluster.number, run["buffer"], source - SCALAR_SOURCE, target)
        op["end"] = timing.move_end(now, 1)

    def _start_store(self, run: Run, op: Op, now: int) -> None:
        source, _ = self.cluster.operands(run, op)
        op["beats"] = self.units.stores.beats(self.cluster.number, run, source)
        run["stored"] += run["out"]["count"]
        if not op["beats"]:
            op["end"] = now
