"""The control unit 602 of a cluster: which buffer's instruction does what, and when.

An exe makes a *run* of an instruction buffer. Its steps start in the order of the
sequence, each when its unit is free and nothing that came before it still uses what
it needs: a step waits for earlier steps of its run, and for all steps of earlier
packets' runs, where they share an accumulator, an output-queue block, or an
input-buffer block that one of them fills. So results never depend on which buffers
run at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from macaw.emu.core import NEVER
from macaw.emu.faults import Fault
from macaw.emu.pe import instruction_buffers as buffers
from macaw.emu.pe import timing
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.runs import LANES, Runs
from macaw.emu.pe.scalar_unit import ScalarUnit
from macaw.emu.pe.sequence import MEMBERS, block_mask, takes_weights
from macaw.emu.pe.sequence_parser import SequenceParser
from macaw.emu.pe.state import (
    BUSY,
    COMPUTING,
    DONE,
    FREE,
    IDLE,
    LOADER,
    MAC,
    NO_UNIT,
    RUNNING,
    SFU,
    STORE,
    WAITING,
    Op,
    Packet,
    Run,
    Segment,
)
from macaw.emu.pe.step_execution import Steps
from macaw.isa.pe import INSTRUCTION_BYTES, SHORT_PIPELINE

if TYPE_CHECKING:
    from macaw.emu.pe.row import Row

_PIPELINE = MEMBERS.index("pipeline")
AFTER = {MAC: LOADER, SFU: MAC, STORE: SFU}  # a unit waits for earlier steps of this one


class Control:
    """The control unit of cluster `cluster` of a row; all it knows lies in the row's state."""

    def __init__(self, row: Row, cluster: int) -> None:
        self.row, self.state, self.shape = row, row.state, row.shape
        self.cluster = cluster
        self.parser = SequenceParser(row, cluster)
        self.steps = Steps(self)
        self.loops = Runs(self)
        self.scalar = ScalarUnit(self)

    # State of this cluster

    @property
    def runs(self) -> list[Run]:
        """Running buffers, in the order of their packets."""
        runs: list[Run] = self.state.runs[self.cluster]
        return runs

    @property
    def units(self) -> list[int]:
        """Which buffer holds each unit."""
        units: list[int] = self.state.units[self.cluster]
        return units

    def run_of(self, buffer: int) -> Run | None:
        """The run of an instruction buffer."""
        for run in self.runs:
            if run["buffer"] == buffer:
                return run
        return None

    def run_for(self, packet: Packet) -> Run:
        """The run of an exe's packet, or of the buffer that it has triggered last."""
        order = packet["order"]
        for run in self.runs:
            if run["order"] == order:
                return run
        raise LookupError(order)

    def wake(self, cycle: int) -> None:
        """Decide again in `cycle` at the latest."""
        due = self.state.due
        due[self.cluster] = min(due[self.cluster], cycle)

    def address(self, run: Run, op: Op) -> int:
        """The address of an instruction, without the half bit."""
        origin = int(self.state.origins[self.cluster, run["buffer"]])
        return self.row.address(origin + INSTRUCTION_BYTES * op["place"])

    # Selector 603: packets

    def accepts(self, packet: Packet) -> bool:
        """Whether a packet's buffers (and the parser, if it is for that) are free."""
        wanted = {packet["buffer"]}
        parser = self.state.parsers[self.cluster]
        if parser is None and not self.runs:
            return True
        if parser is not None and (command_of(packet).parses or parser["buffer"] in wanted):
            return False
        if not command_of(packet).parses:
            wanted.update(self.loops.chain(packet["buffer"]))
            if parser is not None and parser["buffer"] in wanted:
                return False
        return not any(wanted.intersection((run["buffer"], *run["chain"])) for run in self.runs)

    def open(self, packet: Packet, address: int, before: Control | None = None) -> None:
        """Reserve the buffer for the run of a packet that is about to come. Raises `Fault`.

        `before` is a cluster with the same buffers that has just done it.
        """
        if before is None:
            self.runs.append(self.loops.open(packet, address))
        else:
            self.runs.append(self.loops.open_like(before.loops, packet, address))

    def accept(self, packet: Packet, cycle: int) -> None:
        """The command byte of a run's packet was on the bus in `cycle`."""
        run = self.run_for(packet)
        run["live"] = True
        run["issue_at"] = [timing.first_start(cycle)] * len(LANES)
        if self.state.doing[self.cluster] == IDLE:
            self.do(BUSY, cycle + 1)
        self.wake(run["issue_at"][0])
        if self.row.listeners:
            self.row.announce(
                "begin", cluster=self.cluster, buffer=run["buffer"], order=run["order"]
            )

    def do(self, what: int, cycle: int) -> None:
        """From `cycle` on the cluster's PEs idle, wait, or compute; count what was before."""
        self.count_to(cycle)
        self.state.doing[self.cluster] = what
        self.state.computing[self.cluster] = what == COMPUTING

    def count_to(self, cycle: int) -> None:
        """Count the cycles before `cycle` in their class (of a mac at work: the data path does)."""
        state, c = self.state, self.cluster
        passed = cycle - int(state.doing_since[c])
        if state.doing[c] == IDLE:
            state.cycles_idle[c] += passed
        elif state.doing[c] == BUSY:
            state.cycles_queue[c] += passed
        state.doing_since[c] = cycle

    # Segments on the bus

    def taker(self, packet: Packet, segment: int) -> tuple[Run, Op]:
        """The run and its ld that takes a segment of the packet on the bus."""
        run = self.run_for(packet)
        return run, next(op for op in run["ops"] if segment in op["segments"])

    def ready(self, packet: Packet, segment: int) -> bool:
        """Whether the first bytes of a segment may come: its ld is next, and has all it needs.

        Lds before it may still be at work: what counts is that their segments are through.
        """
        run = self.run_for(packet)
        if segment >= run["taken"]:
            return False  # an iteration to come takes it
        run, op = self.taker(packet, segment)
        for other in run["ops"]:
            if other is op:
                break
            through = bool(other["segments"]) and max(other["segments"]) < segment
            if other["lane"] == 0 and other["state"] == WAITING and not through:
                return False
        if self.units[LOADER] not in (FREE, run["buffer"]):
            return False
        if self._conflict(run, op) or not self.scalar.fetchable(run, op):
            return False
        return self.row.loading.has_room(self.cluster, run, op, packet, segment)

    def begin_segment(self, packet: Packet) -> None:
        """The first bytes of a segment are on the bus: the loader is taken."""
        self.units[LOADER] = self.run_for(packet)["buffer"]

    def segment_first(self, packet: Packet, segment: int, cycle: int) -> None:
        """The first beat of a segment was on the bus in `cycle`."""
        run, op = self.taker(packet, segment)
        self.units[LOADER] = run["buffer"]
        op["first"] = min(op["first"], cycle)
        self.wake(cycle + 1)

    def segment_last(self, packet: Packet, segment: int, cycle: int) -> None:
        """The last beat of a segment was on the bus in `cycle`; its contents are in place."""
        run, op = self.taker(packet, segment)
        self.units[LOADER] = FREE
        self.wake(cycle + 1)
        op["received"] += 1
        if op["received"] < len(op["segments"]):
            return
        op["last"] = cycle
        if op["state"] == RUNNING:
            op["end"] = timing.ld_end(cycle, op["start"])
        if takes_weights(op):
            self.find_reads(run)

    def find_reads(self, run: Run) -> None:
        """Once the weights have come, what the run's macs read is known."""
        for op in run["ops"]:
            if op["unit"] == MAC and op["state"] == WAITING and run["reach"] >= 0:
                base = op["base"]
                low, high = buffers.widened((base, base), op["stride"], self.shape.pes)
                end = min(high + run["reach"] + 1, self.shape.input_buffer)
                op["reads"] = block_mask(low, end, self.shape.input_block)

    # Operation unit 607

    def step(self, now: int) -> None:
        """End what ended before cycle `now`, start what can start in it. Raises `Fault`."""
        runs = self.runs
        for run in runs:
            for op in run["ops"]:
                if op["state"] == RUNNING and op["end"] < now:
                    self._finish(run, op)
                if op["freed"] < now:
                    op["sums"] = 0
            if run["unwritten"]:
                self.scalar.write_back(run, now)
        for run in list(runs):
            if run["live"]:
                if not run["looped"]:
                    self.loops.loop_back(run)
                if run["looped"] and self.loops.over(run) and self.scalar.done(run, now):
                    self.loops.leave(run, now)
        live = [run for run in runs if run["live"]]
        if not live and self.state.doing[self.cluster] != IDLE:
            self.do(IDLE, now)
        if len(live) > 1:
            live.sort(key=_buffer)
        again = NEVER
        for run in live:
            for lane in LANES:
                again = min(again, self._issue(run, lane, now))
        for run in runs:
            again = min(again, self.scalar.next_act(run, now))
            for op in run["ops"]:
                if op["state"] == RUNNING and op["end"] + 1 < again:
                    again = op["end"] + 1
        self.state.due[self.cluster] = again

    def _finish(self, run: Run, op: Op) -> None:
        op["state"] = DONE
        if op["unit"] != NO_UNIT and not op["segments"]:
            # The loader is free when the last of an ld's segments has come.
            self.units[op["unit"]] = FREE
        if op["implied"] is None:
            self.row.retired += 1
            if self.state.headers[self.cluster, run["buffer"], _PIPELINE] != SHORT_PIPELINE:
                self.scalar.ended(run, op)

    def _issue(self, run: Run, lane: int, now: int) -> int:
        """Start the next step of a lane if it can; the next cycle in which to try, if known."""
        for op in run["ops"]:
            if op["state"] == WAITING and op["lane"] == lane:
                break
        else:
            return NEVER
        fetched = run["issue_at"][lane]
        if op["implied"] is None:
            fetched = max(fetched, self.scalar.next_start(run, op))
        if now < fetched:
            return fetched
        if op["segments"]:
            if op["first"] >= now:
                return NEVER
        elif op["unit"] != NO_UNIT and (
            self.units[op["unit"]] != FREE or not self._in_order(run, op) or self._conflict(run, op)
        ):
            return NEVER
        elif op["unit"] == LOADER and self.row.bus.claims_loader(self.cluster, run["buffer"]):
            return now + 1
        if self.row.listeners:
            where, number = self.address(run, op), run["buffer"]
            word = int(self.state.words[self.cluster, number, op["place"]])
            used = buffers.accesses(word, op["sums"], op["implied"] is not None)
            self.row.announce(
                "instruction", address=where, cluster=self.cluster, buffer=number, **used
            )
        op["state"], op["start"] = RUNNING, now
        if op["unit"] != NO_UNIT and not op["segments"]:
            self.units[op["unit"]] = run["buffer"]
        try:
            self.steps.start(run, op, now)
        except Fault as fault:
            op["state"] = WAITING
            if op["unit"] != NO_UNIT:
                self.units[op["unit"]] = FREE
            fault.address = fault.address or self.address(run, op)
            raise
        run["issue_at"][lane] = now + 1
        return now + 1

    def _in_order(self, run: Run, op: Op) -> bool:
        """Whether the steps before `op` that it must wait for are done (pe.md, Timing)."""
        for other in run["ops"]:
            if other is op:
                break
            if other["unit"] == AFTER.get(op["unit"]) and other["state"] != DONE:
                return False
        return op["unit"] != MAC or not run["has_weights"] or self.loops.heads_queue(run)

    def _conflict(self, run: Run, op: Op) -> bool:
        """Whether a step that came before `op` still uses something that it needs."""
        for other_run in self.runs:
            for other in other_run["ops"]:
                if other is op:
                    return False
                if other["state"] == DONE:
                    continue
                if (
                    op["sums"] & other["sums"]
                    or op["blocks"] & other["blocks"]
                    or op["writes"] & (other["reads"] | other["writes"])
                    or op["reads"] & other["writes"]
                ):
                    return True
                if op["unit"] == other["unit"] == STORE and _overlap(run, other_run):
                    return True
            if other_run is not run and self._conflict_ahead(op, run, other_run):
                return True
        return False

    def _conflict_ahead(self, op: Op, run: Run, other: Run) -> bool:
        """Whether iterations to come of an earlier run, or what it triggers, need the same."""
        ahead = other["ahead"]
        if ahead is None:
            return False
        reads = 0
        if other["reach"] >= 0 and ahead["low"] <= ahead["high"]:
            end = min(ahead["high"] + other["reach"] + 1, self.shape.input_buffer)
            reads = block_mask(max(ahead["low"], 0), end, self.shape.input_block)
        return bool(
            op["sums"] & ahead["sums"]
            or op["blocks"] & ahead["blocks"]
            or op["writes"] & reads
            or (op["unit"] == STORE and ahead["stores"] and _overlap(run, other))
        )

    def computing_address(self) -> int | None:
        """The address of the mac at work."""
        return self._address_at(MAC)

    def special_address(self) -> int | None:
        """The address of the special function at work."""
        return self._address_at(SFU)

    def _address_at(self, unit: int) -> int | None:
        run = self.run_of(self.units[unit])
        if run is None:
            return None
        ops = (op for op in run["ops"] if op["unit"] == unit and op["state"] == RUNNING)
        return next((self.address(run, op) for op in ops), None)

    def mac_ended(self, now: int) -> None:
        """The last PE of the cluster was done in cycle `now`."""
        run = self.run_of(self.units[MAC])
        assert run is not None  # who holds the unit
        op = next(op for op in run["ops"] if op["unit"] == MAC and op["state"] == RUNNING)
        op["end"] = now
        if self.row.tracing:
            self.row.tracer.mac_ended(self.cluster, run, op)
        self.do(BUSY, now + 1)
        self.wake(now + 1)

    def store_beat_done(self, cycle: int) -> None:
        """A beat of this cluster's store was written in `cycle`."""
        op = self.storing()
        assert op is not None  # who holds the return bus
        op["beats"].pop(0)
        if not op["beats"]:
            op["end"] = cycle
            self.wake(cycle + 1)

    def storing(self) -> Op | None:
        """The store at work, if it has beats left."""
        buffer = self.state.units[self.cluster][STORE]
        if buffer == FREE:
            return None
        for run in self.state.runs[self.cluster]:
            if run["buffer"] == buffer:
                for op in run["ops"]:
                    if op["unit"] == STORE and op["state"] == RUNNING and op["beats"]:
                        found: Op = op
                        return found
        return None

    def may_still_write(self, order: int, segment: Segment) -> bool:
        """Whether a run of a packet before `order` has yet to store into bytes of a segment."""
        low, high = segment["offset"], segment["offset"] + segment["length"]
        for run in self.runs:
            span = run["span"]
            touches = span is not None and span[0] < high and low < span[1]
            stores = any(op["unit"] == STORE and op["state"] != DONE for op in run["ops"])
            stores |= run["ahead"] is not None and run["ahead"]["stores"]
            if touches and stores and run["order"] < order:
                return True
        return False


def _buffer(run: Run) -> int:
    return run["buffer"]


def _overlap(run: Run, other: Run) -> bool:
    """Whether the stores of two different runs may touch the same bytes."""
    mine, its = run["span"], other["span"]
    if run is other or mine is None or its is None:
        return False
    return mine[0] < its[1] and its[0] < mine[1]
