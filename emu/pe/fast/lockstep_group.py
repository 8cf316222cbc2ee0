"""A lockstep group: clusters that run the same steps, which the engine simulates together.

Clusters that share a packet run the same steps; only the ends of their macs differ. While weights
stay in the queues (state `rq`), or if there are no macs, the start of a step follows from the ends
of earlier steps. The rules are those of `control_unit` and `run_lifecycle`. Times here are arrays
of shape (clusters,). The group computes them as far ahead as the data that the bus has delivered
allow.

The declared state of the clusters stays as it was in the cycle in which the group formed. When the
run of a cluster ends, the cluster leaves the group, and the group writes the cluster's state of
that cycle. The group splits if the state is read earlier, or if something happens that the group
does not handle. Then the control units of the remaining clusters repeat their cycles up to the
present one (`lockstep_split`). So the state is always that which the control units would have
computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.emu import plain
from macaw.emu.pe import timing
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.fast.lockstep_accumulate import LockstepAccumulator
from macaw.emu.pe.fast.lockstep_iterations import Loop, Start, Stream, repetition
from macaw.emu.pe.fast.lockstep_macs import LockstepMacs
from macaw.emu.pe.fast.lockstep_steps import (
    STEPS,
    EndedStep,
    LockstepStep,
    StepConflicts,
    cycle_after,
    ended_steps,
    follows,
    only_accumulator,
    op_of,
)
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.resident_balanced import BalancedResidentWeights
from macaw.emu.pe.fast.resident_weights import ResidentWeights
from macaw.emu.pe.row_trace import RowTrace
from macaw.emu.pe.sequence import PSUMS, decode_word
from macaw.emu.pe.state import BUSY, DONE, FREE, LOADER, MAC, NO_UNIT, WAITING, Op, Packet, Run
from macaw.emu.waits import NEVER
from macaw.isa.pe import SHORT_PIPELINE
from macaw.isa.typed_records import NamedTuple

Ints = NDArray[np.int64]


class BusCall(NamedTuple):
    """A call of the bus to the control units, recorded so that a split can repeat it."""

    cycle: int  # the cycle of the call
    before_control: bool  # whether the call is made before the control units act in that cycle
    call: Callable[[ControlUnit], None]  # repeats the call for one control unit


class LockstepGroup:
    """The clusters of `units`, whose runs are equal. Cycle `now` is the group's first cycle.

    Times are arrays of shape (clusters,), in the order of `units`. `members` has the numbers of the
    clusters that belong to the group now. `next_packet` returns the packet on the bus if the group
    may take its segments in advance. Raises `Unplannable` or `Fault` if no group can form.
    """

    def __init__(
        self,
        context: RowContext,
        trace: RowTrace,
        units: list[ControlUnit],
        now: int,
        next_packet: Callable[[], Packet | None],
    ) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.trace, self.units, self._next_packet = trace, units, next_packet
        self.clusters = clusters = [unit.cluster.number for unit in units]
        self.members = set(clusters)
        self.began = now
        lead = units[0]
        self.run: Run = plain.copy({**lead.cluster.runs[0], "segments": []})
        self.run["segments"] = lead.cluster.runs[0]["segments"]
        self.order: int = self.run["order"]
        self.stream: Stream | None = None  # the segments that the bus sends while the group waits
        self.lifecycle, self.buffer = lead.lifecycle, lead.cluster.buffer(self.run["buffer"])
        reaches = [unit.cluster.runs[0]["reach"] for unit in units]
        self.conflicts = StepConflicts(self.shape, reaches)
        self.long_pipeline = self.buffer.header["pipeline"] != SHORT_PIPELINE
        self.loop = Loop(
            self.shape, self.run, self.buffer, self.lifecycle, self.conflicts, self.long_pipeline
        )
        self.due = [self.state.due[cluster] for cluster in clusters]
        entries = self.state.segment_entries[clusters, self.run["buffer"]]
        words = self.state.words[clusters[0], self.run["buffer"]].tolist()
        rows = (decode_word(words[op["place"]]) for op in self.run["ops"] if op["unit"] == MAC)
        # whether all macs are balanced; otherwise none is
        self.balances = any(row.values["balance"] for row in rows)
        kind = BalancedResidentWeights if self.balances else ResidentWeights
        weights = kind(context, clusters, entries)
        self.macs = LockstepMacs(context, lead.units.loading, clusters, weights)
        self.sums = LockstepAccumulator(context, clusters, weights)
        self.issue = np.full(len(clusters), self.run["issue_at"][0])
        self.ends: dict[int, Ints] = {}  # by index of an instruction: the end of its last issue
        self.last_loopback: Ints | None = None
        self.run_end: Ints | None = None  # the first cycle after the run
        self._first = NEVER  # the cycle in which the next cluster leaves the group
        self.retired = 0  # instructions that ended since the group formed
        self.before: list[LockstepStep] = []  # steps of the previous iteration
        self._open_steps: list[LockstepStep] = []  # steps of `before` that may not have ended
        self.steps: list[LockstepStep] = []
        self._opens: dict[int, int] = {}  # by segment: the results of `opens` that are known
        # The last cycle in which other exes ended, and the start of the oldest other mac then.
        self.exes_ended: tuple[int, int] | None = None
        self.bus_calls: list[Iterable[BusCall]] = []  # of the bus since the group formed, in parts
        # Later packets whose command byte was on the bus since then, and the cycles of these bytes.
        self.activations: list[tuple[Packet, int]] = []
        self._take(self.run["ops"], np.full(len(clusters), now))
        self.extend()
        for cluster in clusters:
            self.state.due[cluster] = NEVER

    def _take(self, ops: Sequence[Op], known: Ints) -> None:
        """Make `ops` the steps of the present iteration.

        `known` (clusters,) is the first cycle of the iteration in each cluster.
        """
        self.steps = [LockstepStep(op, known) for op in ops]
        ended = (step.end is not None and (step.end < known).all() for step in self.before)
        self._open_steps = [
            step for step, has_ended in zip(self.before, ended, strict=True) if not has_ended
        ]
        for step in self.steps:
            op = step.op
            if op["name"] not in STEPS:
                raise Unplannable
            if op["state"] == WAITING:
                continue
            step.start = np.full(len(self.clusters), op["start"])
            if op["end"] < NEVER:
                self._end(step, np.full(len(self.clusters), op["end"]))
            self.retired -= op["state"] == DONE and step.explicit

    # Times

    def extend(self) -> None:
        """Compute the times of as many further steps as possible.

        Raises `Unplannable` or `Fault` if the group must split.
        """
        self._opens.clear()
        while self.run_end is None and self.stream is None:
            step = next((step for step in self.steps if step.start is None), None)
            if not (self._loop_back() if step is None else self._start(step)):
                return

    def _start(self, step: LockstepStep) -> bool:
        """Compute when a step starts and ends. Return False if that is not known yet."""
        op = step.op
        bounds: list[Any] = [step.known, self.issue]
        if step.explicit and op["place"] in self.ends:
            last = self.ends[op["place"]]
            bounds.append(
                timing.next_start(timing.write_back(last)) if self.long_pipeline else last + 1
            )
        if op["segments"]:
            if op["first"] == NEVER:
                return False
            bounds.append(op["first"] + 1)
        elif op["unit"] != NO_UNIT:
            for other in self._earlier(step):
                shares = self.conflicts.shares(op, other.op)
                if shares is False and op["unit"] == LOADER and other.op["segments"]:
                    # The loader is free after the last beat, one cycle before the ld ends.
                    if other.op["last"] == NEVER:
                        return False
                    bounds.append(other.op["last"] + 1)
                    continue
                waits = follows(op, other.op) or shares
                if waits is not False:
                    if other.end is None:
                        return False
                    bounds.append(cycle_after(other.end, waits))
        step.start = reduce(np.maximum, bounds)
        self.issue = step.start + 1
        if op["name"] == "mac":
            self._mac(step)
        elif op["name"] == "ld_queue":
            self.sums.load_from_queue(self._operands(op)[0])
            self._end(step, timing.psums_end(step.start))
        elif op["name"] == "move":
            _, target = op["implied"] or self._operands(op)
            self.sums.move(only_accumulator(op), target)
            self._end(step, timing.move_end(step.start, 1))
        elif op["name"] == "skip":
            self._end(step, step.start)
        elif op["last"] < NEVER:
            self._end_ld(step)
        return True

    def _end(self, step: LockstepStep, end: Ints) -> None:
        step.end = end
        if step.explicit:
            self.ends[step.op["place"]] = end
            self.retired += 1

    def _end_ld(self, step: LockstepStep) -> None:
        assert step.start is not None  # the step has begun
        ends = [timing.ld_end(step.op["last"], start) for start in step.start.tolist()]
        self._end(step, np.array(ends))

    def _earlier(self, step: LockstepStep) -> list[LockstepStep]:
        return self._open_steps + self.steps[: self.steps.index(step)]

    def _loop_back(self) -> bool:
        """Start the next iteration, or end the run after its last iteration.

        Return False if the cycle of this loopback is not known yet.
        """
        run = self.run
        times = []
        for step in self.steps:
            if step.end is None:
                return False
            if step.op["unit"] in (LOADER, MAC):
                times.append(step.end + 1)
        last = run["iteration"] + 1 == run["iterations"]
        if not last:
            times += [step.start + 1 for step in self.steps if step.start is not None]
        known = reduce(np.maximum, times, self.steps[0].known)
        if last:
            self._finish(known)
            return True
        run["iteration"] += 1
        known = self._skip_iterations(known)
        run["ops"] = []
        self.lifecycle.expand(run)
        self.before = self.steps
        self._take(run["ops"], known)
        return True

    def _skip_iterations(self, known: Ints) -> Ints:
        """Compute many of the next iterations at once, if possible.

        The first one begins in cycle `known` (clusters,). Return the first cycle of the iteration
        that follows these iterations.
        """
        start = Start(known, self.issue, self.ends)
        found = repetition(self.loop, self.steps, self.macs, start, self._next_packet)
        if found is None:
            return known
        times, steps, run = found.times, found.steps, self.run
        self.sums.repeat(found.sums)
        macs = [number for number, step in enumerate(steps) if step.op["unit"] == MAC]
        begin, end = (part[:, macs].reshape(-1, len(known)) for part in (times.start, times.end))
        self.macs.record(begin, end)
        self.issue = times.start[-1, -1] + 1
        for number, step in enumerate(steps):
            if step.explicit:
                self.ends[step.op["place"]] = times.end[-1, number]
                self.retired += found.count
        run["iteration"] += found.count
        self.steps = []  # the state contains no steps of the skipped iterations
        if found.stream is not None:
            self.stream = found.stream
            run["taken"] += len(found.stream.cycles)
        return times.known

    def _finish(self, last_loopback: Ints) -> None:
        """Set `run_end`: for each cluster, the first cycle after all its steps and write-backs."""
        ends = [step.end + 1 for step in self.before + self.steps if step.end is not None]
        if self.long_pipeline:
            ends += [timing.write_back(end) + 1 for end in self.ends.values()]
        self.last_loopback, self.run_end = last_loopback, reduce(np.maximum, ends, last_loopback)
        self._first = int(self.run_end.min())

    # Macs

    def _mac(self, step: LockstepStep) -> None:
        op, start = step.op, step.start
        assert start is not None  # `_start` has set the start
        if not self.macs.computed:
            coming = self._coming_segments()
            bases = [op["base"]] if coming else self._next_bases(step)
            self.macs.multiply(bases, coming)
        end = start + self.macs.cycles(1)[0] - 1
        self.sums.mac(self.macs.take(op["base"], only_accumulator(op)))
        self.macs.record(start[None], end[None])
        self._end(step, end)

    def _next_bases(self, step: LockstepStep) -> list[int]:
        """Return the bases of the mac `step` and of later macs that can be computed now.

        A mac reads from its base (an element address) on. All activations must have arrived.
        """
        bases, run = [step.op["base"]], self.run
        later = self.steps[self.steps.index(step) + 1 :]
        bases += [other.op["base"] for other in later if other.op["unit"] == MAC]
        places = [x.op["place"] for x in self.steps if x.op["unit"] == MAC]
        count = max(self.macs.most - len(bases), 0) // len(places)
        first = run["iteration"] + 1
        iterations = np.arange(first, min(first + count, run["iterations"]))
        found = [self.buffer.operand(run["initial"], place, 0, iterations) for place in places]
        table = np.array(found).T
        wrong = ((table < 0) | (table >= self.shape.input_buffer)).any(axis=1)
        # that iteration will raise a fault
        end = int(wrong.argmax()) if wrong.any() else len(table)
        return bases + table[:end].reshape(-1).tolist()

    def _coming_segments(self) -> list[int]:
        """Return the numbers of the segments of activations that the bus has not delivered yet."""
        lds = (step.op for step in self.steps if step.op["last"] == NEVER)
        segments = [part for op in lds for part in op["segments"]]
        segments += range(self.run["taken"], len(self.run["segments"]))
        return [part for part in segments if self.run["segments"][part]["type"] != PSUMS]

    # The bus

    def takes(self, packet: Packet | None) -> bool:
        """Return whether a packet is the one that started the group's runs."""
        return packet is not None and packet["order"] == self.order

    def keeps_out(self, packet: Packet) -> bool:
        """Return whether a packet needs a buffer that the group's runs use."""
        return packet["buffer"] in (self.run["buffer"], *self.run["chain"])

    @property
    def triggers(self) -> bool:
        """Whether the group's runs, when they end, start another instruction buffer."""
        return bool(self.run["chain"])

    def reserves(self, packet: Packet, segment: int) -> bool:
        """Return whether the group keeps the bus from sending segment `segment` of another packet.

        It does so if a run of the group may still use something that the segment's ld needs.
        """
        if not self.triggers:
            return False
        for unit in self.units:
            if unit.cluster.number in self.members.intersection(packet["clusters"]):
                run, op = unit.cluster.taker(packet, segment)
                if unit.conflicts_ahead(op, run, unit.cluster.runs[0]):
                    return True
        return False

    def opens(self, segment: int) -> int:
        """Return the first cycle in which all clusters can take a segment.

        NEVER means that this cycle is not known yet.
        """
        if segment not in self._opens:
            self._opens[segment] = self._opening(segment)
        return self._opens[segment]

    def _opening(self, segment: int) -> int:
        """Compute when all clusters can take a segment, by the rules of `ControlUnit.can_take`."""
        step = next((step for step in self.steps if segment in step.op["segments"]), None)
        if step is None:
            return NEVER
        op = step.op
        bounds = [step.known]
        for other in self._earlier(step):
            if not other.op["segments"] or max(other.op["segments"]) >= segment:
                if other.start is None:
                    return NEVER
                bounds.append(other.start)
            waits = self.conflicts.shares(op, other.op)
            if waits is not False:
                if other.end is None:
                    return NEVER
                bounds.append(cycle_after(other.end, waits))
        if self.long_pipeline and op["place"] in self.ends:
            bounds.append(timing.write_back(self.ends[op["place"]]))
        return int(max(bound.max() for bound in bounds))

    def taker(self, segment: int) -> LockstepStep:
        """Return the ld step that takes a segment."""
        return next(step for step in self.steps if segment in step.op["segments"])

    def target(self, segment: int) -> int:
        """Return the first element address to which the ld of a segment writes."""
        return self._operands(self.taker(segment).op)[0]

    def _operands(self, op: Op) -> list[int]:
        return self.buffer.operands(self.run["initial"], op["iteration"])[op["place"]]

    def load(self, segment: int, sums: NDArray[Any]) -> None:
        """Accumulate a segment of partial sums, whose last beat was on the bus.

        `sums` has shape (clusters, PEs, elements). Raises `Unplannable` if a sum leaves its range.
        """
        self.sums.load(self.target(segment), sums)

    def first_beat(self, segment: int, cycle: int) -> None:
        """Record that a segment's first beat was on the bus in `cycle`, and compute further times.

        Raises `Unplannable` or `Fault` if the group must split.
        """
        op = self.taker(segment).op
        op["first"] = min(op["first"], cycle)
        self.extend()

    def last_beat(self, segment: int, cycle: int) -> None:
        """Record that a segment's last beat was on the bus in `cycle`, and compute further times.

        The contents of the segment are already in the PEs. Raises `Unplannable` or `Fault` if the
        group must split.
        """
        step = self.taker(segment)
        op = step.op
        op["received"] += 1
        if op["received"] == len(op["segments"]):
            op["last"] = cycle
            if step.start is not None:
                self._end_ld(step)
        self.extend()

    def next_event(self, now: int) -> int:
        """Return the first cycle after `now` in which the row must simulate the group, or NEVER.

        In this cycle a cluster leaves, all clusters can take the next segment, or a stream has
        ended.
        """
        cycle, packet = self._first, self.state.packet
        if self.stream is not None:
            return min(cycle, self.stream.end)
        if self.takes(packet) and not packet["sent"]:
            opens = self.opens(packet["segment"])
            cycle = min(cycle, opens if opens > now else NEVER)
        return cycle

    # The end

    def leave(self, now: int) -> None:
        """Remove the clusters whose run has ended by cycle `now`, and write their state."""
        if self.run_end is None or self._first > now:
            return
        self._first = NEVER
        leaving = []
        for place, over in enumerate(self.run_end.tolist()):
            if self.clusters[place] not in self.members:
                continue
            if over <= now:
                self.members.remove(self.clusters[place])
                self._leave(place)
                leaving.append(place)
            else:
                self._first = min(self._first, over)
        number, core = self.run["number"], self.context.core
        if core.tracing and self.macs.times and core.trace.records(number):
            begin, until = (times[:, leaving] for times in self.macs.spans)
            self.trace.end_macs(number, begin, until, self._products[:, leaving])

    @cached_property
    def _products(self) -> Ints:
        """The number of products of each mac, of shape (macs, clusters)."""
        return self.sums.products()

    def _leave(self, place: int) -> None:
        state, c, unit = self.state, self.clusters[place], self.units[place]
        run, steps = unit.cluster.runs[0], self._ended_steps
        run["ops"] = [op_of(step, place) for step in steps if step.remains[place]]
        run["iteration"], run["taken"] = self.run["iteration"], self.run["taken"]
        run["ahead"] = None if self.run["ahead"] is None else self.run["ahead"].copy()
        run["issue_at"][0], run["held"] = int(self.issue[place]), run["has_weights"]
        run["receives"] = False
        if self.long_pipeline:
            for at, end in self.ends.items():
                run["written_back"][at] = int(timing.write_back(end[place]))
            places = list(self.ends)
            state.registers[c, run["buffer"], places] = np.array(run["initial"])[places, :, None]
            run["unwritten"] = []
        self.sums.write(place)
        for packet, cycle in self.activations:
            if c in packet["clusters"]:
                unit.activate(packet, cycle)
        state.cycles_queue[c] += self.macs.waits[place]
        state.doing[c], state.doing_since[c] = BUSY, self.macs.since[place]
        self.context.core.retired += self.retired
        unit.lifecycle.loop_back(run)
        state.units[c] = [FREE] * len(state.units[c])
        assert self.run_end is not None  # when a cluster leaves, its run has ended
        state.due[c] = int(self.run_end[place])

    @cached_property
    def _ended_steps(self) -> list[EndedStep]:
        """The steps that a cluster's run contains when the run has ended."""
        return ended_steps(self.before, self.steps, self.conflicts)
