"""The control unit 602 of a cluster: it decides when each instruction of each buffer starts.

An exe starts a *run* of an instruction buffer. The steps of a run are in two lanes: one for the
stores that flags of the exe add, one for all other steps. In each lane the steps start in the order
of the sequence. A step starts when its unit is free and no earlier step may still use anything that
the step needs. Earlier steps are the steps before it in its run, and all steps in runs of earlier
packets. Two steps conflict if they share an accumulator, an output-queue block, or an input-buffer
block that one of them fills, or if they are stores of two runs that may write the same bytes. So
results do not depend on which buffers run at the same time.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.faults import Fault
from macaw.emu.pe import timing
from macaw.emu.pe.cluster import Cluster, has_ended
from macaw.emu.pe.commands import command_of
from macaw.emu.pe.instruction_buffers import accesses
from macaw.emu.pe.row_units import RowUnits
from macaw.emu.pe.run_lifecycle import LANES, RunLifecycle
from macaw.emu.pe.scalar_unit import ScalarUnit
from macaw.emu.pe.sequence import MEMBERS, block_mask, takes_weights
from macaw.emu.pe.sequence_parser import SequenceParser
from macaw.emu.pe.state import (
    BUSY,
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
)
from macaw.emu.pe.step_execution import StepExecution
from macaw.emu.waits import NEVER
from macaw.isa.pe import SHORT_PIPELINE

_PIPELINE = MEMBERS.index("pipeline")
# a step waits for earlier steps of its run on this other unit
AFTER = {MAC: LOADER, SFU: MAC, STORE: SFU}


class ControlUnit:
    """The control unit of one cluster."""

    def __init__(self, cluster: Cluster, units: RowUnits) -> None:
        self.cluster, self.state, self.shape = cluster, cluster.state, cluster.shape
        self.units, self.core = units, units.context.core
        self.parser = SequenceParser(units.context, cluster.number)
        self.execution = StepExecution(cluster, units)
        self.lifecycle = RunLifecycle(cluster, units)
        self.scalar = ScalarUnit(cluster)
        # Given (cluster, buffer, cycle): returns whether the bus needs the loader of the cluster in
        # this cycle, for this buffer or one with a lower number. The distribution unit sets this
        # function.
        self.bus_claims_loader: Callable[[int, int, int], bool] = lambda *_: False

    # Selector 603: packets

    def has_free_buffer(self, packet: Packet) -> bool:
        """Return whether all buffers that a packet needs are free.

        An exe needs its buffer and the buffers that its buffer triggers. A config needs its buffer
        and the parser.
        """
        buffers = {packet["buffer"]}
        parser = self.state.parsers[self.cluster.number]
        if parser is None and not self.cluster.runs:
            return True
        if parser is not None and (command_of(packet).parses or parser["buffer"] in buffers):
            return False
        if not command_of(packet).parses:
            buffers.update(self.cluster.chain(packet["buffer"]))
            if parser is not None and parser["buffer"] in buffers:
                return False
        runs = self.cluster.runs
        return not any(buffers.intersection((run["buffer"], *run["chain"])) for run in runs)

    def open(self, packet: Packet, address: int, before: ControlUnit | None = None) -> None:
        """Create the run of a packet whose first beat is sent now; this reserves its buffer.

        `address` is the address of the packet. `before` is the control unit of another cluster with
        equal buffers that has just opened the packet; None if there is no such cluster. Raises
        `Fault`.
        """
        if before is None:
            self.cluster.runs.append(self.lifecycle.open(packet, address))
        else:
            self.cluster.runs.append(self.lifecycle.open_like(before.lifecycle, packet, address))

    def activate(self, packet: Packet, cycle: int) -> None:
        """Allow the run of an exe packet to start: its command byte was on the bus in `cycle`."""
        run = self.cluster.run_for(packet)
        run["live"] = True
        run["issue_at"] = [timing.first_start(cycle)] * len(LANES)
        if self.state.doing[self.cluster.number] == IDLE:
            self.cluster.set_activity(BUSY, cycle + 1)
        self.cluster.wake(run["issue_at"][0])
        if self.core.listeners:
            self.core.announce(
                "begin", cluster=self.cluster.number, buffer=run["buffer"], order=run["order"]
            )

    # Segments on the bus

    def can_take(self, packet: Packet, segment: int, now: int) -> bool:
        """Return whether the bus may send the first bytes of segment `segment` in cycle `now`.

        The packet is on the bus. It may under six conditions. An ld of the run's present iteration
        takes the segment. All steps of lane 0 (all steps but added stores) before this ld have
        started, except lds whose segments the bus has already sent. The loader is free, or works
        for the run's buffer. No step before the ld still uses what the ld writes. The register file
        has the operands of the ld. The weight queues have room. Raises `Fault` if the bus may never
        send the segment.
        """
        run = self.cluster.run_for(packet)
        if segment >= run["taken"]:
            return False  # an ld of a later iteration takes the segment
        run, op = self.cluster.taker(packet, segment)
        for other in run["ops"]:
            if other is op:
                break
            through = bool(other["segments"]) and max(other["segments"]) < segment
            if other["lane"] == 0 and other["state"] == WAITING and not through:
                return False
        if self.cluster.units[LOADER] not in (FREE, run["buffer"]) and self._uses_loader(now):
            return False
        if self._conflict(run, op, now) or not self.scalar.has_operands(run, op, now):
            return False
        return self.units.loading.has_room(self.cluster.number, run, op, packet, segment)

    def _uses_loader(self, now: int) -> bool:
        """Return whether the run that occupies the loader still uses it in cycle `now`.

        A load that has ended frees the loader only when its control unit acts.
        """
        run = self.cluster.run_of(self.cluster.units[LOADER])
        if run is None:
            return False
        return run["receives"] or any(
            _loads_from_queue(op) and not has_ended(op, now) for op in run["ops"]
        )

    def begin_segment(self, packet: Packet) -> None:
        """Occupy the loader for the run of a packet whose next segment begins on the bus."""
        run = self.cluster.run_for(packet)
        self.cluster.units[LOADER], run["receives"] = run["buffer"], True

    def first_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Occupy the loader and let an ld start: its segment's first beat was on the bus in
        `cycle`.
        """
        run, op = self.cluster.taker(packet, segment)
        self.cluster.units[LOADER], run["receives"] = run["buffer"], True
        op["first"] = min(op["first"], cycle)
        self.cluster.wake(cycle + 1)

    def last_beat(self, packet: Packet, segment: int, cycle: int) -> None:
        """Free the loader, because a segment's last beat was on the bus in `cycle`.

        A load of the run from the output queue may still use the loader. If the segment is the last
        one of the ld that takes it, the end of the ld is known now. The contents of the segment are
        already in the PEs.
        """
        run, op = self.cluster.taker(packet, segment)
        run["receives"] = False
        if not any(_loads_from_queue(other) for other in run["ops"]):
            self.cluster.units[LOADER] = FREE
        self.cluster.wake(cycle + 1)
        op["received"] += 1
        if op["received"] < len(op["segments"]):
            return
        op["last"] = cycle
        if op["state"] == RUNNING:
            op["end"] = timing.ld_end(cycle, op["start"])
        if takes_weights(op):
            self.cluster.set_reads(run)

    # Operation unit 607

    def step(self, now: int) -> None:
        """End the steps whose last cycle was before `now`, and start the steps that can start now.

        Raises `Fault`.
        """
        runs = self.cluster.runs
        for run in runs:
            for op in run["ops"]:
                if op["state"] == RUNNING and op["end"] < now:
                    self._finish(run, op)
                if op["freed"] < now:
                    op["sums"] = 0
            if run["unwritten"]:
                self.scalar.write_back(run, now)
        for run in list(runs):
            if run["live"] and (run["ops"] or run["issue_at"][0] <= now):
                if not run["looped"]:
                    self.lifecycle.loop_back(run)
                if run["looped"] and self.lifecycle.is_over(run) and self.scalar.is_idle(run, now):
                    self.lifecycle.end_buffer(run, now)
        live = [run for run in runs if run["live"]]
        if not live and self.state.doing[self.cluster.number] != IDLE:
            self.cluster.set_activity(IDLE, now)
        if len(live) > 1:
            live.sort(key=_buffer)
        next_cycle = NEVER
        for run in live:
            for op in _next_steps(run):
                next_cycle = min(next_cycle, self._issue(run, op, now))
        for run in runs:
            if run["live"] and not run["looped"] and not run["ops"]:
                # The flags of the exe have left out all steps: the loopback takes a cycle.
                next_cycle = min(next_cycle, max(now + 1, run["issue_at"][0]))
            next_cycle = min(next_cycle, self.scalar.next_event(run, now))
            for op in run["ops"]:
                if op["state"] == RUNNING and op["end"] + 1 < next_cycle:
                    next_cycle = op["end"] + 1
        self.state.due[self.cluster.number] = next_cycle

    def _finish(self, run: Run, op: Op) -> None:
        op["state"] = DONE
        frees = op["unit"] != NO_UNIT
        if op["unit"] == LOADER:  # an ld from the bus freed it when its last segment arrived
            frees = not op["segments"] and not run["receives"]
        if frees:
            self.cluster.units[op["unit"]] = FREE
        if op["implied"] is None:
            self.core.retired += 1
            if self.state.headers[self.cluster.number, run["buffer"], _PIPELINE] != SHORT_PIPELINE:
                self.scalar.schedule_write_back(run, op)

    def _issue(self, run: Run, op: Op, now: int) -> int:
        """Start `op`, the next step of `run` in its lane, in cycle `now`, if it can start.

        Return the next cycle in which to try again. NEVER means that the control unit waits for an
        event.
        """
        fetched = run["issue_at"][op["lane"]]
        if op["implied"] is None:
            fetched = max(fetched, self.scalar.next_start(run, op))
        if now < fetched:
            return fetched
        if op["segments"]:
            if op["first"] >= now:
                return NEVER
        elif op["unit"] != NO_UNIT and (
            self.cluster.units[op["unit"]] != FREE
            or not self._in_order(run, op)
            or self._conflict(run, op, now)
        ):
            return NEVER
        elif op["unit"] == LOADER and self.bus_claims_loader(
            self.cluster.number, run["buffer"], now
        ):
            return now + 1
        if self.core.listeners:
            where, number = self.cluster.address(run, op), run["buffer"]
            word = int(self.state.words[self.cluster.number, number, op["place"]])
            masks = accesses(word, op["sums"], op["implied"] is not None)
            self.core.announce(
                "instruction", address=where, cluster=self.cluster.number, buffer=number, **masks
            )
        op["state"], op["start"] = RUNNING, now
        if op["unit"] != NO_UNIT and not op["segments"]:
            self.cluster.units[op["unit"]] = run["buffer"]
        try:
            self.execution.start(run, op, now)
        except Fault as fault:
            op["state"] = WAITING
            if op["unit"] != NO_UNIT:
                self.cluster.units[op["unit"]] = FREE
            fault.address = fault.address or self.cluster.address(run, op)
            raise
        run["issue_at"][op["lane"]] = now + 1
        return now + 1

    def _in_order(self, run: Run, op: Op) -> bool:
        """Return whether `op` need not wait for steps of its run that use other units.

        If `AFTER` maps the unit of `op` to another unit, `op` waits until all earlier steps of the
        run on that unit have ended. A mac of a run with weights also waits until the run's weights
        are at the head of the weight queue.
        """
        for other in run["ops"]:
            if other is op:
                break
            if other["unit"] == AFTER.get(op["unit"]) and other["state"] != DONE:
                return False
        return op["unit"] != MAC or not run["has_weights"] or self.lifecycle.heads_queue(run)

    def _conflict(self, run: Run, op: Op, now: int) -> bool:
        """Return whether a step before `op`, in any run, may still use something that `op` needs.

        `run` is the run of `op`, `now` is the present cycle.
        """
        for other_run in self.cluster.runs:
            for other in other_run["ops"]:
                if other is op:
                    return False
                if has_ended(other, now):
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
            if other_run is not run and self.conflicts_ahead(op, run, other_run):
                return True
        return False

    def conflicts_ahead(self, op: Op, run: Run, other: Run) -> bool:
        """Return whether the run `other` will later use something that `op` needs.

        `run` is the run of `op`, and `other` is the run of an earlier packet. Later iterations of
        `other` count, too, and so do the buffers that it triggers at its end.
        """
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

    def end_mac(self, now: int) -> None:
        """End the current mac, because its last PE has finished in cycle `now`."""
        run = self.cluster.run_of(self.cluster.units[MAC])
        assert run is not None  # the run that occupies the unit
        op = next(op for op in run["ops"] if op["unit"] == MAC and op["state"] == RUNNING)
        op["end"] = now
        if self.core.tracing:
            self.units.trace.end_mac(self.cluster.number, run, op)
        self.cluster.set_activity(BUSY, now + 1)
        self.cluster.wake(now + 1)


def _next_steps(run: Run) -> list[Op]:
    """Return the first waiting step of each lane of a run, without lanes that have none.

    Lane 1 has the stores that flags of the exe add, lane 0 all other steps.
    """
    steps: list[Op | None] = [None] * len(LANES)
    for op in run["ops"]:
        if op["state"] == WAITING and steps[op["lane"]] is None:
            steps[op["lane"]] = op
    return [op for op in steps if op is not None]


def _loads_from_queue(op: Op) -> bool:
    """Return whether a step now loads partial sums from the output queue."""
    return op["unit"] == LOADER and op["state"] == RUNNING and not op["segments"]


def _buffer(run: Run) -> int:
    return run["buffer"]


def _overlap(run: Run, other: Run) -> bool:
    """Return whether stores of two runs, `run` and `other`, may write the same bytes."""
    span, other_span = run["span"], other["span"]
    if run is other or span is None or other_span is None:
        return False
    return span[0] < other_span[1] and other_span[0] < span[1]
