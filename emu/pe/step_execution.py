"""What a step of a run does in the cycle in which it starts, and when it will end.

One function a name of `Op.name`. A mac and a store end when data path and return
bus say so, a load when its last beat has come.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu.core import NEVER
from macaw.emu.faults import Fault
from macaw.emu.pe import timing
from macaw.emu.pe.runs import WINDOW
from macaw.emu.pe.sequence import MEMBERS, decoded, takes_weights
from macaw.emu.pe.state import COMPUTING, Op, Run, SfuJob
from macaw.isa.pe import BLOCKS, SCALAR_SOURCE

if TYPE_CHECKING:
    from macaw.emu.pe.control_unit import Control


_STATE, _WINDOW = MEMBERS.index("state"), MEMBERS.index("window")


class Steps:
    """The steps of one cluster; `control` is its control unit."""

    def __init__(self, control: Control) -> None:
        self.control, self.state, self.shape = control, control.state, control.shape
        self.cluster = control.cluster
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
        """`op` starts in cycle `now`. Raises `Fault`."""
        if self.control.row.remembered is not None:
            self.control.row.remembered.started(self.control, run, op)
        self._by_name[op["name"]](run, op, now)

    def operands(self, run: Run, op: Op) -> tuple[NDArray[Any], NDArray[Any]]:
        """FO: the two operands of each PE (PEs,), from register file 605 or implied."""
        pes = self.shape.pes
        if op["implied"] is not None:
            first, second = op["implied"]
            return first + op["stride"] * np.arange(pes), np.full(pes, second)
        entries = self.state.registers[self.cluster, run["buffer"], op["place"]]
        first_entry = np.full(pes, op["chained"]) if op["chained"] >= 0 else entries[0]
        return first_entry, entries[1]

    def _start_ld(self, run: Run, op: Op, now: int) -> None:
        if op["last"] < NEVER:
            op["end"] = timing.ld_end(op["last"], now)

    def _start_skip(self, run: Run, op: Op, now: int) -> None:
        op["end"] = now

    def _start_ld_queue(self, run: Run, op: Op, now: int) -> None:
        source, _ = self.operands(run, op)
        self.control.row.loading.psums_from_queue(self.cluster, source)
        op["end"] = timing.psums_end(now)

    def _start_mac(self, run: Run, op: Op, now: int) -> None:
        c = self.cluster
        ops = run["ops"]
        loaded = any(takes_weights(other) for other in ops[: ops.index(op)])
        if not loaded and not run["held"]:
            message = "mac without weights: no ld of its sequence has loaded any"
            raise Fault("queue underflow", message, {"cluster": c, "buffer": run["buffer"]})
        base, total = self.operands(run, op)
        word = int(self.state.words[c, run["buffer"], op["place"]])
        balance = bool(decoded(word).values["balance"])
        limit = self.limits(base)
        self.control.do(COMPUTING, now)
        if self.control.row.tracing:
            self.control.row.tracer.mac_begins(c)
        self.state.mac_left[c] = self._entries(run)
        self.control.row.datapath.start(c, base, total, limit, balance)

    def _entries(self, run: Run) -> NDArray[Any]:
        """How many entries of 503 each PE's mac examines, (PEs,). Raises `Fault`.

        In a sliding window an entry's index is its place in the window.
        """
        state, c = self.state, self.cluster
        entries: NDArray[Any] = state.segment_entries[c, run["buffer"]]
        if state.headers[c, run["buffer"], _STATE] != WINDOW:
            return entries
        window = int(state.headers[c, run["buffer"], _WINDOW])
        if (entries < window).any():
            held = int(entries.min())
            message = f"cluster {c}: a window of {window} entries, the weight queue holds {held}"
            raise Fault("queue underflow", message, {"cluster": c, "entries": held})
        places = (state.weight_head[c][:, None] + np.arange(window)) % self.shape.weight_queue
        state.weight_index[c, np.arange(self.shape.pes)[:, None], places] = np.arange(window)
        return np.full_like(entries, window)

    def limits(self, base: NDArray[Any]) -> NDArray[Any]:
        """The end of the activations that each PE has loaded without a gap from its base on."""
        size, pes = self.shape.input_block, np.arange(self.shape.pes)
        loaded = self.state.block_loaded[self.cluster]
        torn = (loaded < size) & (np.arange(BLOCKS) >= (base // size)[:, None])
        block = torn.argmax(axis=1)
        end = np.where(torn.any(axis=1), block * size + loaded[pes, block], BLOCKS * size)
        limits: NDArray[Any] = np.maximum(end, base)
        return limits

    def _start_move(self, run: Run, op: Op, now: int) -> None:
        source, target = self.operands(run, op)
        self.control.row.results.move(self.cluster, source, target)
        op["end"] = timing.move_end(now, 1)

    def _start_bypass(self, run: Run, op: Op, now: int) -> None:
        source, target = self.operands(run, op)
        count = max(run["out"]["count"], 1)
        self.control.row.results.bypass(self.cluster, source, target, count)
        op["end"] = timing.move_end(now, count)

    def _start_special(self, run: Run, op: Op, now: int) -> None:
        source, target = self.operands(run, op)
        header = self.state.headers[self.cluster, run["buffer"]]
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
            count=count,
            source=source.tolist(),
            target=target.tolist(),
        )
        self.control.row.special.begin(self.cluster, job)
        if chained:
            op["freed"] = now
            self.control.wake(now + 1)
        results = count * len(job["pes"])
        op["end"] = timing.sfu_end(now, results, self.shape.sfu_rate, self.shape.sfu_latency)

    def _start_scalar(self, run: Run, op: Op, now: int) -> None:
        source, target = (int(entry[0]) for entry in self.operands(run, op))
        special = self.control.row.special
        special.move_scalar(self.cluster, run["buffer"], source - SCALAR_SOURCE, target)
        op["end"] = timing.move_end(now, 1)

    def _start_store(self, run: Run, op: Op, now: int) -> None:
        source, _ = self.operands(run, op)
        op["beats"] = self.control.row.results.beats(self.cluster, run, source)
        run["stored"] += run["out"]["count"]
        if not op["beats"]:
            op["end"] = now
