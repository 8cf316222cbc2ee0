"""The tally of vc's translated blocks: adds their counts to the core's tally, for the trace."""

from __future__ import annotations

from macaw.emu.scalar.fast.core import TranslatingCore
from macaw.emu.tallies import PARTIAL, READS, WRITES
from macaw.emu.vector.core import VectorCore


class TranslatingVectorCore(VectorCore, TranslatingCore):
    """The core vc with translated blocks, which count uses of lanes and external accesses."""

    def add_vector_block(
        self,
        begin: int,
        until: int,
        first: int,
        last: int,
        lanes: int,
        arrays: int,
        first_read: int = 0,
        last_read: int = 0,
        reads: int = 0,
        first_write: int = 0,
        last_write: int = 0,
        writes: int = 0,
        partial: int = 0,
    ) -> None:
        """Add to the tally a block's time, its uses of compute units and its external accesses.

        The block lasts from cycle `begin` to `until` - 1, its uses from `first` to `last` - 1.
        `lanes` and `arrays` are the numbers of uses of lanes and of the whole vector unit. `reads`
        and `writes` are the numbers of accesses. `first_read` and `last_read` are the cycles in
        which the first and the last read begin, `first_write` and `last_write` those in which the
        first and the last write begin. The block lasts at least until the last beats of the
        accesses. `partial` is the number of partial writes.
        """
        tally = self.tally
        if tally.begin < 0:
            tally.begin = begin
        if arrays:
            tally.count_units(first, last, lanes, arrays)
        delay = self.device.memory.channel.latency + 1
        if reads:
            self.port.external_reads += reads
            tally.count_occurrence(READS, first_read, last_read + delay, reads)
            until = max(until, self.aligned(last_read + delay))
        if writes:
            self.port.external_writes += writes
            tally.count_occurrence(WRITES, first_write, last_write + delay, writes)
            until = max(until, self.aligned(last_write + delay))
        if partial:
            self.port.external_partial += partial
            tally.count_occurrence(PARTIAL, first_write, last_write + delay, partial)
        if until > tally.until:
            tally.until = until
