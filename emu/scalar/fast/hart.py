"""The fast engine of cp: it executes runs and translated blocks, and interprets the rest.

Instructions that access only registers and plain local memory execute in runs (lists of bound
functions), or in blocks (Python functions) if their code is hot. The interpreter executes all other
instructions; while there are listeners, it executes every instruction. Runs, blocks and the
interpreter use the same function (act) for an instruction, so each instruction is defined once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType

from macaw.emu.faults import Stop
from macaw.emu.scalar.fast.blocks import Block
from macaw.emu.scalar.fast.core import ABSENT, DONE, LATE, LEFT, TranslatingCore
from macaw.emu.scalar.hart import Hart
from macaw.emu.scalar.run_cache import RunCache
from macaw.emu.scalar.runs import ACTS, ENDS, Run
from macaw.emu.scalar.semantics import Leave
from macaw.emu.system import System
from macaw.emu.tallies import single_counters
from macaw.isa.codec import Decoded
from macaw.isa.model import Core as Table


class FastHart(Hart, TranslatingCore):
    """The fast engine of cp."""

    def __init__(
        self,
        device: System,
        table: Table,
        name: str,
        number: int,
        modules: Iterable[ModuleType] = (),
    ) -> None:
        super().__init__(device, table, name, number, modules)
        self.prepare_blocks()

    def translate(
        self, address: int, instructions: Sequence[Decoded], edition: int, code: bytes
    ) -> Block:
        """Return the block of the instructions from `address` on, in the edition `edition`.

        `code` has the words of the instructions.
        """
        # Here, because a short program has no hot code, and the translator takes long to import.
        from macaw.emu.scalar.fast.translation import Translator, translate

        return translate(Translator, self, address, instructions, edition, code)

    def accepts(self, found: Decoded) -> bool:
        """Return whether a translated block may contain an instruction."""
        return found.row.family in ACTS | ENDS

    def advance(self, limit: int) -> Stop | None:
        """Execute instructions that begin before cycle `limit`. Raises `Fault`."""
        self.shared = False
        if self.listeners:
            if self.retired >= self.trace.open_at:
                self.open_groups()
            return self.interpret()
        if self.tracing:
            stop = self._advance_traced(limit)
            if stop is not None or self.tracing or self.shared or self.time >= limit:
                return stop
        code, cache = self.code, self.plain
        runs, steps, blocks = code.runs, code.steps, cache.blocks
        pc, time, retired = self.pc, self.time, self.retired
        while time < limit:
            block = blocks.get(pc)
            if block is not None and time + block.lead < limit:
                self.pc, self.time, self.retired = pc, time, retired
                if block.function(self, limit):
                    cache.note_exit(pc, self.retired - retired)
                    if self.shared or self.time + block.lead >= limit:
                        return None  # the clock may give another limit
                    stop = self.interpret()
                    if stop is not None or self.shared:
                        return stop
                elif self.shared:
                    return None
                elif self.pc not in blocks:
                    cache.count_jump(self.pc)
                pc, time, retired = self.pc, self.time, self.retired
                continue
            run = runs.get(pc)
            if run is None:
                self.pc, self.time, self.retired = pc, time, retired
                run = code.run(pc)
                if self.shared:
                    return None
            if time + run.lead >= limit:
                run = steps.get(pc)
                if run is None:
                    self.pc, self.time, self.retired = pc, time, retired
                    run = code.step(pc)
                    if self.shared:
                        return None
            acts, end, _, length, costs, _, _ = run
            try:
                for act in acts:
                    act()
                following, cost = end()
            except Leave as leave:
                place = leave.place
                self.pc, self.time = pc + 4 * place, time + costs[place]
                self.retired = retired + place
                stop = self.interpret()
                if stop is not None or self.shared:
                    return stop
                pc, time, retired = self.pc, self.time, self.retired
            else:
                if following != pc + 4 * length:
                    cache.count_jump(following)
                pc = following
                time += cost
                retired += length
        self.pc, self.time, self.retired = pc, time, retired
        return None

    # While the trace records, code executes up to the next border: the instruction with which a
    # register group opens or after which one closes.

    def _advance_traced(self, limit: int) -> Stop | None:
        """Execute instructions that begin before cycle `limit`, while the trace records.

        Raises `Fault`.
        """
        trace, blocks = self.trace, self.counting.blocks
        while self.tracing and self.time < limit:
            before = self.retired
            if before >= trace.open_at:
                self.open_groups()
            border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
            pc, room = self.pc, border - before
            ended = self.run_traced_block(limit, room) if pc in blocks else ABSENT
            if ended == ABSENT:
                ended = LEFT if self._execute_run(pc, room, limit) else DONE
                if self.shared:
                    return None
            if self.retired >= trace.close_at:
                self.close_groups()
            elif ended == LEFT and self.time < limit and self.retired < trace.open_at:
                stop = self.interpret()
                if stop is not None:
                    return stop
            if self.shared or ended == LATE:
                return None
        return None

    def _execute_run(self, pc: int, room: int, limit: int) -> bool:
        """Execute the run at `pc`, a sequence of instructions, as far as they begin before `limit`.

        After `room` instructions the trace begins or ends to record (a border). Stop there if
        the trace's records must be written at once (not `takes_late_records`). Return whether
        the interpreter must execute the next instruction.
        """
        code: RunCache = self.code
        run = code.runs.get(pc)
        if run is None:
            run = code.run(pc)
            if self.shared:
                return False
        count, acts = run.length, run.acts
        if not count:
            return True
        time = self.time
        if time + run.lead >= limit:
            count = len(acts)
            while time + run.costs[count - 1] >= limit:
                count -= 1
            acts = acts[:count]
        if room < count and not self.takes_late_records():
            count = room
            acts = acts[:count]
        try:
            for act in acts:
                act()
            if count == run.length:
                following, cost = run.end()
            else:
                following, cost = pc + 4 * count, run.costs[count]
        except Leave as leave:
            self._report_run(run, leave.place, run.costs[leave.place])
            self.pc = pc + 4 * leave.place
            return True
        if following != pc + 4 * count:
            self.counting.count_jump(following)
        self._report_run(run, count, cost)
        self.pc = following
        return False

    def _report_run(self, run: Run, count: int, cost: int) -> None:
        """Count the first `count` instructions of a run, which have taken `cost` device cycles.

        The trace may begin or end to record at some of these instructions.
        """
        trace, tally, begin, first = self.trace, self.tally, self.time, self.retired
        self.time, self.retired = begin + cost, first + count
        # The fault of a record must be raised at the end, but there is none if `count` > 1.
        if count > 1 and trace.records_alone(first):
            self._record_each(run, begin, first, count, cost)
            return
        at, costs = 0, run.costs
        while at < count and self.tracing:
            border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
            border -= first
            if border >= count:
                self._count_run(run, begin, at, count, cost)
                return
            self._count_run(run, begin, at, border, costs[border])
            trace.pass_border(tally, first + border)
            at = border

    def _record_each(self, run: Run, begin: int, first: int, count: int, cost: int) -> None:
        """Report the first `count` instructions of a run one by one to the trace block.

        This is for records that have one instruction each (`trace_num` is 1). The run started in
        cycle `begin` with instruction number `first`, and took `cost` cycles.
        """
        trace, used, costs = self.trace, run.uses.counts, run.costs
        start = begin - trace.state.trace_origin
        time, number = start, first
        for place in range(count):
            if not self.tracing:
                return
            until = start + (costs[place + 1] if place + 1 < count else cost)
            units = used[place + 1] - used[place]
            trace.record_alone(number, single_counters(time, until, units))
            time, number = until, number + 1

    def _count_run(self, run: Run, begin: int, at: int, end: int, cost: int) -> None:
        """Count the instructions `at` to `end` - 1 of a run that started in cycle `begin`.

        Instruction `end` - 1 ends `cost` device cycles after the start of the run.
        """
        tally, used, costs = self.tally, run.uses, run.costs
        if tally.begin < 0:
            tally.begin = begin + costs[at]
        tally.until = begin + cost
        uses = used.counts[end] - used.counts[at]
        if uses:
            first = used.first
            if first < costs[at]:
                while used.counts[at + 1] == used.counts[at]:
                    at += 1
                first = costs[at]
            tally.count_units(begin + first, begin + used.until[end], uses, uses)
