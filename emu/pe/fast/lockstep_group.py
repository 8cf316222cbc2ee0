"""A lockstep group: clusters that run the same steps, simulated together.

Clusters that share a packet run the same steps; only the ends of their macs differ. While weights
stay in the queues (state `rq`), the start of a step follows from the ends of earlier steps. The
rules are those of `control_unit` and `run_lifecycle`. Times here are arrays of shape (clusters,).
The group computes them as far ahead as the data that the bus has delivered allow.

The declared state of the clusters stays as it was in the cycle in which the group formed. When the
run of a cluster is over, the cluster leaves the group, and its state of that cycle is written. The
group splits if the state is read earlier, or if something happens that the group does not handle.
Then the control units of the remaining clusters repeat their cycles up to the present one
(`lockstep_split`). So the state is always what the control units would have computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from macaw.emu import plain
from macaw.emu.pe import timing
from macaw.emu.pe.context import RowContext
from macaw.emu.pe.control_unit import ControlUnit
from macaw.emu.pe.fast.lockstep_accumulate import LockstepAccumulator, LockstepMac
from macaw.emu.pe.fast.lockstep_steps import (
    STEPS,
    EndedStep,
    LockstepStep,
    cycle_after,
    follows,
    op_of,
)
from macaw.emu.pe.fast.mac_plan import Unplannable
from macaw.emu.pe.fast.resident_balanced import BalancedResidentWeights
from macaw.emu.pe.fast.resident_weights import ResidentMacs, ResidentWeights
from macaw.emu.pe.row_trace import RowTrace
from macaw.emu.pe.sequence import block_mask, decoded
from macaw.emu.pe.state import BUSY, DONE, FREE, LOADER, MAC, NO_UNIT, WAITING, Op, Packet
from macaw.emu.waits import NEVER
from macaw.isa.pe import SHORT_PIPELINE

Ints = NDArray[np.int64]
_LOOKUPS = 1 << 20  # look-ups of the macs that are computed at once


class BusCall(NamedTuple):
    """A call of the bus to the control units, recorded so that a split can repeat it."""

    cycle: int
    before_control: bool  # whether it comes before the control units act in that cycle
    call: Callable[[ControlUnit], None]


class LockstepGroup:
    """The clusters of `units`, whose runs are equal and start to multiply in cycle `now`.

    Times are arrays of shape (clusters,), in the order of `units`. `members` are the numbers of the
    clusters that belong to the group now. The constructor raises `Unplannable` or `Fault` if no
    group can form.
    """

    def __init__(
        self, context: RowContext, trace: RowTrace, units: list[ControlUnit], now: int
    ) -> None:
        self.context, self.state, self.shape = context, context.state, context.shape
        self.trace, self.units = trace, units
        self.clusters = clusters = [unit.cluster.number for unit in units]
        self.members = set(clusters)
        self.began = now
        lead = units[0]
        self.run = plain.copy(lead.cluster.runs[0])
        self.order: int = self.run["order"]
        self.lifecycle, self.buffer = lead.lifecycle, lead.cluster.buffer(self.run["buffer"])
        # The greatest index among the weights of each cluster.
        self.reaches = [unit.cluster.runs[0]["reach"] for unit in units]
        self.long_pipeline = self.buffer.header["pipeline"] != SHORT_PIPELINE
        self.due = [self.state.due[cluster] for cluster in clusters]
        entries = self.state.segment_entries[clusters, self.run["buffer"]]
        words = self.state.words[clusters[0], self.run["buffer"]].tolist()
        macs = (decoded(words[op["place"]]) for op in self.run["ops"] if op["unit"] == MAC)
        self.balances = any(mac.values["balance"] for mac in macs)  # all of them, or none
        kind = BalancedResidentWeights if self.balances else ResidentWeights
        self.weights = kind(context, clusters, entries)
        self.sums = LockstepAccumulator(context, clusters, self.weights)
        self.issue = np.full(len(clusters), self.run["issue_at"][0])
        self.since = self.state.doing_since[clusters]  # the PEs wait from these cycles on
        self.waits = np.zeros_like(self.since)  # cycles in which they waited
        self.ends: dict[int, Ints] = {}  # by place of an instruction: the end of its last issue
        self.last_loopback: Ints | None = None
        self.run_end: Ints | None = None  # the first cycle after the run
        self._first = NEVER  # the cycle in which the next cluster leaves
        self.retired = 0  # instructions since the group formed
        self.before: list[LockstepStep] = []  # those of the iteration before
        self.steps: list[LockstepStep] = []
        self.mac_times: list[tuple[Ints, Ints]] = []  # the first and the last cycle of each
        self._next_macs: list[tuple[int, ResidentMacs, int]] = []  # base and number of macs to come
        self._limits: dict[int, Ints] = {}
        self._opens: dict[int, int] = {}  # by segment, the known values of `opens`
        self.bus_calls: list[BusCall] = []  # what the bus called since the group formed
        self._take(self.run["ops"], np.full(len(clusters), now))
        self.extend()
        for cluster in clusters:
            self.state.due[cluster] = NEVER

    def _take(self, ops: Sequence[Op], known: Ints) -> None:
        """Make `ops` the steps of the present iteration.

        `known` (clusters,) is the first cycle of the iteration in each cluster.
        """
        self.steps = [LockstepStep(op, known) for op in ops]
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

    def _reads(self, op: Op) -> list[int]:
        """Return, for each cluster, the mask of the input blocks that a step reads.

        The blocks of a mac follow from its base and the greatest index of the cluster's weights.
        """
        if op["unit"] != MAC:
            return [op["reads"]] * len(self.reaches)
        base, size, last = op["base"], self.shape.input_block, self.shape.input_buffer
        masks = {
            reach: block_mask(base, min(base + reach + 1, last), size)
            for reach in set(self.reaches)
        }
        return [masks[reach] for reach in self.reaches]

    def _shares(self, op: Op, other: Op) -> NDArray[np.bool_] | bool:
        """Return whether two steps conflict, by the rules of `ControlUnit`.

        The result is one bool for all clusters, or an array of shape (clusters,).
        """
        writes, other_writes = op["writes"], other["writes"]
        if op["sums"] & other["sums"] or op["blocks"] & other["blocks"] or writes & other_writes:
            return True
        if not writes and not other_writes:
            return False
        reads = zip(self._reads(op), self._reads(other), strict=True)
        among = {pair: bool(pair[0] & other_writes or writes & pair[1]) for pair in set(reads)}
        if len(set(among.values())) == 1:
            return next(iter(among.values()))
        reads = zip(self._reads(op), self._reads(other), strict=True)
        return np.array([among[pair] for pair in reads])

    # Times

    def extend(self) -> None:
        """Compute times of steps as far ahead as possible.

        Raises `Unplannable` or `Fault` if the group must split.
        """
        self._opens.clear()
        while self.run_end is None:
            step = next((step for step in self.steps if step.start is None), None)
            if not (self._loop_back() if step is None else self._start(step)):
                return

    def _start(self, step: LockstepStep) -> bool:
        """Compute when a step starts and ends. Return False if that is not known yet."""
        op = step.op
        bounds = [step.known, self.issue]
        if step.explicit and op["place"] in self.ends:
            last = self.ends[op["place"]]
            bounds.append(
                timing.next_start(timing.write_back(last)) if self.long_pipeline else last + 1
            )
        if op["segments"]:
            if op["first"] == NEVER:
                return False
            bounds.append(np.full_like(self.issue, op["first"] + 1))
        elif op["unit"] != NO_UNIT:
            for other in self._earlier(step):
                waits = follows(op, other.op) or self._shares(op, other.op)
                if waits is not False:
                    if other.end is None:
                        return False
                    bounds.append(cycle_after(other.end, waits))
        step.start = reduce(np.maximum, bounds)
        self.issue = step.start + 1
        if op["name"] == "mac":
            self._mac(step)
        elif op["name"] == "move":
            source, target = op["implied"] or self._operands(op)
            self.sums.move(source, target)
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
        assert step.start is not None  # it has begun
        ends = [timing.ld_end(step.op["last"], start) for start in step.start.tolist()]
        self._end(step, np.array(ends))

    def _earlier(self, step: LockstepStep) -> list[LockstepStep]:
        return self.before + self.steps[: self.steps.index(step)]

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
        run["held"] = True
        run["iteration"] += 1
        run["ops"] = []
        self.lifecycle.expand(run)
        self.before = self.steps
        self._take(run["ops"], known)
        return True

    def _finish(self, last_loopback: Ints) -> None:
        """Compute the end of the run: every step has ended and every operand has been
        written back.
        """
        ends = [step.end + 1 for step in self.before + self.steps if step.end is not None]
        if self.long_pipeline:
            ends += [timing.write_back(end) + 1 for end in self.ends.values()]
        self.last_loopback, self.run_end = last_loopback, reduce(np.maximum, ends, last_loopback)
        self._first = int(self.run_end.min())

    # Macs

    def _mac(self, step: LockstepStep) -> None:
        op, start = step.op, step.start
        assert start is not None  # `_start` has set it
        if not self._next_macs:
            self._multiply(step)
        base, batch, at = self._next_macs.pop(0)
        assert base == op["base"]
        self.sums.mac(LockstepMac(batch, at, base, op["sums"].bit_length() - 1, self._limit(base)))
        end = start + batch.cycles[at] - 1
        self.waits += start - self.since
        self.since = end + 1
        self.mac_times.append((start, end))
        self._end(step, end)

    def _multiply(self, step: LockstepStep) -> None:
        """Compute the next mac. If all activations have arrived, compute later macs with it."""
        bases = [step.op["base"]]
        run, later_steps = self.run, self.steps[self.steps.index(step) + 1 :]
        if run["taken"] == len(run["segments"]) and all(x.op["last"] < NEVER for x in self._lds()):
            bases += [other.op["base"] for other in later_steps if other.op["unit"] == MAC]
            places = [x.op["place"] for x in self.steps if x.op["unit"] == MAC]
            most = max(1, _LOOKUPS // max(self.weights.at.size, 1))
            for iteration in range(run["iteration"] + 1, run["iterations"]):
                if len(bases) + len(places) > most:
                    break
                operands = self.buffer.operands(run["initial"], iteration)
                iteration_bases = [operands[place][0] for place in places]
                if not all(0 <= base < self.shape.input_buffer for base in iteration_bases):
                    break  # that iteration will fault
                bases += iteration_bases
        limits = np.array([self._limit(base) for base in bases])
        batch = self.weights.multiply(bases, limits)
        self._next_macs = [(base, batch, at) for at, base in enumerate(bases)]

    def _lds(self) -> list[LockstepStep]:
        return [step for step in self.steps if step.op["segments"]]

    def _limit(self, base: int) -> Ints:
        """Return, for each cluster, the element at which the loaded activations end.

        All elements from `base` up to this end are loaded in all PEs.
        """
        if base not in self._limits:
            block_loaded = self.state.block_loaded[self.clusters]
            few = self.units[:1] if (block_loaded == block_loaded[0]).all() else self.units
            bases = np.array([base] * self.shape.pes)
            limits = [unit.cluster.activation_limits(bases)[0] for unit in few]
            self._limits[base] = np.full(len(self.clusters), limits)
        return self._limits[base]

    # The bus

    def takes(self, packet: Packet | None) -> bool:
        """Return whether a packet is the one that started the group's runs."""
        return packet is not None and packet["order"] == self.order

    def keeps_out(self, packet: Packet) -> bool:
        """Return whether a packet needs a buffer that the group's runs use."""
        return packet["buffer"] in (self.run["buffer"], *self.run["chain"])

    def opens(self, segment: int) -> int:
        """Return the first cycle in which all clusters can take a segment.

        NEVER means that this cycle is not known yet.
        """
        if segment not in self._opens:
            self._opens[segment] = self._opening(segment)
        return self._opens[segment]

    def _opening(self, segment: int) -> int:
        """Compute the result of `opens`, by the rules of `ControlUnit.can_take`."""
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
            waits = self._shares(op, other.op)
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
        """Return the element address to which the ld of a segment writes."""
        return self._operands(self.taker(segment).op)[0]

    def _operands(self, op: Op) -> list[int]:
        return self.buffer.operands(self.run["initial"], op["iteration"])[op["place"]]

    def first_beat(self, segment: int, cycle: int) -> None:
        """React to the first beat of a segment, on the bus in `cycle`. Raises as `extend` does."""
        op = self.taker(segment).op
        op["first"] = min(op["first"], cycle)
        self.extend()

    def last_beat(self, segment: int, cycle: int) -> None:
        """React to the last beat of a segment, on the bus in `cycle`. Raises as `extend` does.

        The contents of the segment are already in the PEs.
        """
        step = self.taker(segment)
        op = step.op
        op["received"] += 1
        self._limits = {}
        if op["received"] == len(op["segments"]):
            op["last"] = cycle
            if step.start is not None:
                self._end_ld(step)
        self.extend()

    def next_event(self, now: int) -> int:
        """Return the first cycle after `now` in which the row must simulate the group, or NEVER.

        In this cycle a cluster leaves the group, or all clusters can take the next segment.
        """
        cycle, packet = self._first, self.state.packet
        if self.takes(packet) and not packet["sent"]:
            opens = self.opens(packet["segment"])
            cycle = min(cycle, opens if opens > now else NEVER)
        return cycle

    # The end

    def leave(self, now: int) -> None:
        """Remove the clusters whose run is over in cycle `now`, and write their state."""
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
        number = self.run["number"]
        if self.context.core.tracing and self.mac_times and self.context.core.trace.records(number):
            begin, until, uses = (times[:, leaving] for times in self._uses)
            self.trace.end_macs(number, begin, until, uses)

    @cached_property
    def _uses(self) -> tuple[Ints, Ints, Ints]:
        """The first cycle, the cycle after the last one, and the number of products of each mac.

        Each of the three arrays has shape (macs, clusters).
        """
        begin = np.array([start for start, _ in self.mac_times])
        until = np.array([end for _, end in self.mac_times]) + 1
        return begin, until, self.sums.products()

    def _leave(self, place: int) -> None:
        state, c, unit = self.state, self.clusters[place], self.units[place]
        run, steps = unit.cluster.runs[0], self._ended_steps
        run["ops"] = [op_of(step, place) for step in steps if step.remains[place]]
        run["iteration"], run["taken"] = self.run["iteration"], self.run["taken"]
        run["ahead"] = None if self.run["ahead"] is None else self.run["ahead"].copy()
        run["issue_at"][0], run["held"] = int(self.issue[place]), True
        if self.long_pipeline:
            for at, end in self.ends.items():
                run["written_back"][at] = int(timing.write_back(end[place]))
            places = list(self.ends)
            initial = np.array(run["initial"])[places, :, None]
            state.registers[c, run["buffer"], places] = initial
            run["unwritten"] = []
        self.sums.write(place)
        state.cycles_queue[c] += self.waits[place]
        state.doing[c], state.doing_since[c] = BUSY, self.since[place]
        self.context.core.retired += self.retired
        unit.lifecycle.loop_back(run)
        state.units[c] = [FREE] * len(state.units[c])
        assert self.run_end is not None  # the run of a cluster that leaves is over
        state.due[c] = int(self.run_end[place])

    @cached_property
    def _ended_steps(self) -> list[EndedStep]:
        """The steps that the run of a cluster contains when it is over.

        Steps of the iteration before the last one remain in a cluster if they ended after the last
        loopback.
        """
        last = self.steps[0].known
        steps = []
        for step in self.before + self.steps:
            assert step.start is not None
            assert step.end is not None
            remains = step.end >= last if step in self.before else np.ones_like(last, np.bool_)
            times = step.start.tolist(), step.end.tolist()
            steps.append(EndedStep(step.op, *times, self._reads(step.op), remains.tolist()))
        return steps
