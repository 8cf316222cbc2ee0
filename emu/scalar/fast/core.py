"""The common part of the fast engines of scalar cores: caches of blocks, and their trace."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence

from macaw.emu.breaks import Break, Probe
from macaw.emu.faults import Fault
from macaw.emu.scalar.core import ScalarCore
from macaw.emu.scalar.fast.blocks import COUNTING, PLAIN, Block, BlockCache
from macaw.emu.scalar.run_cache import RunCache
from macaw.emu.tallies import ARRAY, UNIT
from macaw.isa.codec import Decoded

NO_BORDER = -1


class TranslatingCore(ScalarCore):
    """A scalar core that translates hot code to Python functions."""

    code: RunCache

    def prepare_blocks(self) -> None:
        """Create the caches of blocks. A subclass calls this once."""
        self.plain = BlockCache(self, PLAIN, self.translate, self.accepts)
        # The blocks in these caches count for the trace, and execute only while it records.
        self.counting = BlockCache(self, COUNTING, self.translate, self.accepts)

    @abstractmethod
    def translate(
        self, address: int, instructions: Sequence[Decoded], edition: int, code: bytes
    ) -> Block:
        """Translate instructions from `address` on to a block; `code` has their words.

        `edition` says what the block counts for the trace: PLAIN, COUNTING or CROSSING.
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
            tally.count_occurrence(UNIT, first, last, uses)
            tally.count_occurrence(ARRAY, first, last, uses)

    def next_border(self, count: int) -> int:
        """Add the tally to the trace, because a border is in the middle of a block.

        The block has executed `count` instructions up to the border. Return the number of
        instructions up to the next border; `NO_BORDER` if the block must end at the present border.
        """
        self.retired = number = self.retired + count
        trace, watch = self.trace, self.counting.watch
        changes = watch.changes
        try:
            trace.pass_border(self.tally, number)
        except Fault as fault:
            self.spill_fault = fault
            return NO_BORDER
        if self.shared or not self.tracing or watch.changes != changes:
            return NO_BORDER
        border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
        return border - number

    def run_counting_block(self, block: Block, limit: int, room: int) -> bool:
        """Execute a block that counts for the trace. Raises `Fault`.

        All executed instructions begin before cycle `limit`. `room` is the number of instructions
        up to the trace's next border. Only a block with `crosses` continues across borders; any
        other block stops before the next border. Return whether the interpreter must execute the
        next instruction.
        """
        pc, before = self.pc, self.retired
        leaves = block.function(self, limit, room - block.length)
        if self.spill_fault is not None:
            fault, self.spill_fault = self.spill_fault, None
            raise fault
        count = self.retired - before
        if not leaves or (not block.crosses and room - count < block.length):
            return False
        self.counting.note_exit(pc, count)
        trace = self.trace
        # False if the trace has reached a border
        return self.retired < trace.open_at and self.retired < trace.close_at
