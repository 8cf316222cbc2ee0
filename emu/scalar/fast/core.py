"""The common part of the fast engines of scalar cores: caches of blocks, and their trace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from macaw.emu.breaks import Break, Probe
from macaw.emu.faults import Fault
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.fast.blocks import PLAIN, REPORTING, Block, BlockCache
from macaw.emu.scalar.fast.passes import PassTimes, any_meets
from macaw.emu.scalar.run_cache import RunCache
from macaw.isa.codec import Decoded
from macaw.isa.memory_map import EXTERNAL

NO_BORDER = -1
# What the core does after it has tried to execute a block: it executes the instruction without a
# block, continues, interprets the next instruction, or returns to the clock for another limit.
ABSENT, DONE, LEFT, LATE = range(4)


class TranslatingCore(ScalarCore):
    """A scalar core that translates hot code to Python functions."""

    code: RunCache

    def prepare_blocks(self) -> None:
        """Create the caches of blocks. A subclass calls this once."""
        self.plain = BlockCache(self, PLAIN, self.translate, self.accepts)
        # The blocks in this cache count for the trace, and execute only while it records.
        self.counting = BlockCache(self, REPORTING, self.translate, self.accepts)
        # Addresses of external memory without code to which records go: the first one, the end,
        # and the number of watches of this memory when this was found.
        self._without_code = 0, 0, -1
        # What blocks have executed that the trace has not counted yet: the times of the block, the
        # cycle in which it began, its complete passes (each up to the branch back), the number of
        # instructions of a further pass, and whether the last of these is a branch that was taken.
        self.reports: list[tuple[PassTimes, int, int, int, bool]] = []

    @abstractmethod
    def translate(
        self, address: int, instructions: Sequence[Decoded], edition: int, code: bytes
    ) -> Block:
        """Translate the instructions from `address` on into a block; `code` has their words.

        `edition` says what the block counts for the trace (`BlockCache`).
        """

    @abstractmethod
    def accepts(self, found: Decoded) -> bool:
        """Return whether a translated block may contain an instruction."""

    def set_breaks(self, breaks: Mapping[int, Break]) -> None:
        """Replace all breaks, and drop translated code that contains a changed break."""
        old = self.breaks
        super().set_breaks(breaks)
        both = old.keys() & breaks.keys()
        changed = (old.keys() | breaks.keys()) - {x for x in both if old[x] == breaks[x]}
        for cache in (self.code, self.plain, self.counting):
            cache.rebind(changed)

    def set_probes(self, probes: Iterable[Probe]) -> None:
        """Replace all probes, and drop all translated code if they have changed."""
        old = self.probes
        super().set_probes(probes)
        if self.probes != old:
            for cache in (self.code, self.plain, self.counting):
                cache.clear()

    def add_block(self, begin: int, until: int, uses: int, first: int, last: int) -> None:
        """Add to the tally a block's time and its uses of compute units.

        `begin` is the first cycle of the block, `until` the cycle after the block. `uses` is the
        number of uses; `first` is the first cycle of the uses, `last` the cycle after the uses.
        """
        tally = self.tally
        if tally.begin < 0:
            tally.begin = begin
        tally.until = until
        if uses:
            tally.count_units(first, last, uses, uses)

    def next_border(self, count: int) -> int:
        """Add the tally to the trace, because the trace begins or ends to record inside a block.

        The instruction at which it does so is a border. The block has executed `count` instructions
        up to the border. Return the number of instructions up to the next border; `NO_BORDER` if
        the block must end at the present border.
        """
        self.retired = number = self.retired + count
        trace, watch = self.trace, self.counting.watch
        changes = watch.changes
        try:
            border = trace.pass_border(self.tally, number)
        except Fault as fault:
            self.spill_fault = fault
            return NO_BORDER
        if self.shared or not self.tracing or watch.changes != changes:
            return NO_BORDER
        return border - number

    def _take_reports(self, first: int) -> None:
        """Count for the trace the instructions that the blocks in `reports` have executed.

        The first of them has number `first`. The trace may begin or end to record at some of them.
        """
        trace, tally, at = self.trace, self.tally, first
        border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
        for times, begun, passes, place, taken in self.reports:
            end = first + passes * times.length + place
            while border < end:
                if at < border:
                    times.add(tally, begun, passes, at - first, border - first, False)
                at, border = border, trace.pass_border(tally, border)
            if not self.tracing:
                break
            times.add(tally, begun, passes, at - first, end - first, taken)
            first = at = end
        self.reports.clear()

    def _reports_late(self, block: Block, limit: int, room: int, is_late: bool) -> bool:
        """Return whether the trace may count a block after all its passes up to cycle `limit`.

        `room` is the number of instructions up to the next border, an instruction at which the
        trace begins or ends to record. `is_late` is the result of `takes_late_records`. The records
        of borders among the passes are written after all passes. So the passes must not access the
        memory to which the records go.
        """
        times = block.times
        if times is None:
            return False
        walks, trace = times.walks, self.trace
        if is_late and walks is not None and not walks:
            return True
        # no instruction takes less than a cycle
        if room >= (limit - self.time + block.length if times.length else block.length):
            return True
        if not is_late or walks is None:
            return is_late and trace.area[0] >= trace.area[1]
        passes = (limit - self.time) // times.cycles + 1 if times.length else 1
        return not any_meets(walks, trace.area, self.x, passes)

    def takes_late_records(self) -> bool:
        """Return whether the trace may write a record later than at the end of its recording.

        It may if no spill area is set, or if the area is in external memory and contains no code.
        The caller ensures that no instruction accesses the area between the end of the recording
        and the write.
        """
        area = self.trace.area
        return area[0] >= area[1] or self._is_without_code(area)

    def _is_without_code(self, area: tuple[int, int]) -> bool:
        """Return whether an area for records is in external memory, and has no code."""
        begin, end = area
        external = self.device.memory.external
        first, last, watches = self._without_code
        if begin < first or end > last or external.watches != watches:
            if begin < EXTERNAL or end > EXTERNAL + self.device.memory.external_bytes:
                return False
            if external.is_watched(begin - EXTERNAL, end - EXTERNAL):
                return False
            self._without_code = begin, end, external.watches
        return True

    def run_traced_block(self, limit: int, room: int) -> int:
        """Execute the block at `pc`, which counts for the trace. Raises `Fault`.

        If the trace may count it late, also execute the blocks that follow, and count all of them
        at the end. All executed instructions begin before cycle `limit`. `room` is the number of
        instructions until the trace begins or ends to record. Return the action that follows, as a
        constant of this module.
        """
        blocks, first, action = self.counting.blocks, self.retired, ABSENT
        border, is_late = first + room, self.takes_late_records()
        block = blocks.get(self.pc)
        while block is not None and self.time + block.lead < limit:
            if not self._reports_late(block, limit, border - self.retired, is_late):
                break
            pc, before = self.pc, self.retired
            if block.function(self, limit):
                self._take_reports(first)
                return LATE if self.time + block.lead >= limit else self._leave_block(pc, before)
            action = DONE
            if self.shared:
                break
            block = blocks.get(self.pc)
            if block is None:
                self.counting.count_jump(self.pc)
        if action == DONE or block is None or self.time + block.lead >= limit:
            self._take_reports(first)
            return action
        if room < block.length:
            block = self.counting.crossing(self.pc)
            if block is None:
                return ABSENT
        return self._run_up_to_border(block, limit, room)

    def _leave_block(self, pc: int, before: int) -> int:
        """Note that the block at `pc` ended before an instruction that the interpreter executes.

        Before the block, `before` instructions were executed. Return `DONE` if the trace begins or
        ends to record now. Otherwise return `LEFT`: the interpreter must execute the instruction
        now.
        """
        self.counting.note_exit(pc, self.retired - before)
        trace = self.trace
        return LEFT if self.retired < trace.open_at and self.retired < trace.close_at else DONE

    def _run_up_to_border(self, block: Block, limit: int, room: int) -> int:
        """Execute a block; return the action that follows, as a constant of this module.

        A border is an instruction at which the trace begins or ends to record. A block with
        `crosses` continues across borders. Any other block stops before the next border, which is
        `room` instructions away.
        """
        pc, before = self.pc, self.retired
        if block.times is None:
            leaves = block.function(self, limit, room - block.length)
        else:
            within = block.times.limit_within(self.time, block.lead, room)
            leaves = block.function(self, min(limit, within))
            self._take_reports(before)
        if self.spill_fault is not None:
            fault, self.spill_fault = self.spill_fault, None
            raise fault
        if not leaves:
            if self.pc not in self.counting.blocks and not self.shared:
                self.counting.count_jump(self.pc)
            return DONE
        count = self.retired - before
        if not block.crosses and room - count < block.length:
            return DONE
        return self._leave_block(pc, before)
