"""The trace of translated blocks of vc: what a block counts is added to the core's tally."""

from __future__ import annotations

from macaw.emu.scalar.fast.core import TranslatingCore
from macaw.emu.tallies import ARRAY, INDEX, UNIT
from macaw.emu.vector.core import VectorCore

_READS, _WRITES, _PARTIAL = (INDEX[f"external_{x}"] for x in ("reads", "writes", "partial"))


class TranslatingVectorCore(VectorCore, TranslatingCore):
    """vc with blocks, which count lanes and accesses to external memory, too."""

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
        """Add a block to the tally: its time, its uses of units, its accesses to external memory.

        `first` and `last` are begin and end of its uses. `last_read` and `last_write` are the
        begins of the last accesses: the block lasts until their last beats at least.
        """
        tally = self.tally
        if tally.begin < 0:
            tally.begin = begin
        if arrays:
            tally.count_occurrence(UNIT, first, last, lanes)
            tally.count_occurrence(ARRAY, first, last, arrays)
        delay = self.device.memory.channel.latency + 1
        if reads:
            self.port.external_reads += reads
            tally.count_occurrence(_READS, first_read, last_read + delay, reads)
            until = max(until, self.aligned(last_read + delay))
        if writes:
            self.port.external_writes += writes
            tally.count_occurrence(_WRITES, first_write, last_write + delay, writes)
            until = max(until, self.aligned(last_write + delay))
        if partial:
            self.port.external_partial += partial
            tally.count_occurrence(_PARTIAL, first_write, last_write + delay, partial)
        if until > tally.until:
            tally.until = until
