"""The fast engine of vc: it executes hot code as translated blocks, and interprets the rest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from macaw.emu.faults import Stop
from macaw.emu.scalar.fast.blocks import Block
from macaw.emu.scalar.fast.core import ABSENT, DONE, LATE
from macaw.emu.scalar.fast.translation import translate
from macaw.emu.system import System
from macaw.emu.vector.fast.tally import TranslatingVectorCore
from macaw.emu.vector.fast.translation import VectorTranslator, accepts
from macaw.emu.vector.interpreter import VectorInterpreter
from macaw.isa.codec import Decoded


class FastVectorCore(VectorInterpreter, TranslatingVectorCore):
    """The fast engine of vc."""

    def __init__(self, device: System) -> None:
        super().__init__(device)
        self.burst = 1 << 14  # so that one call of `advance` can do many passes of a loop
        self.prepare_blocks()

    def translate(
        self, address: int, instructions: Sequence[Decoded], edition: int, code: bytes
    ) -> Block:
        """Translate the instructions from `address` on into a block; `code` has their words.

        `edition` says what the block counts for the trace
        (`macaw.emu.scalar.fast.blocks.BlockCache`).
        """
        return translate(VectorTranslator, self, address, instructions, edition, code)

    def accepts(self, found: Decoded) -> bool:
        """Return whether a translated block may contain an instruction."""
        return accepts(self, found)

    def count_jump(self, address: int) -> None:
        """Count a jump to `address`. After enough jumps, translate the code there."""
        (self.counting if self.tracing else self.plain).count_jump(address)

    def advance(self, limit: int) -> Stop | None:
        """Execute instructions that issue before cycle `limit`. Raises `Fault`."""
        self.shared = False
        cache = self.plain
        blocks = {} if self.listeners else cache.blocks
        with np.errstate(all="ignore"):  # NumPy would warn of results that the instructions define
            if self.tracing:
                stop = self._advance_traced(limit)
                if stop is not None or self.tracing:
                    return stop
            while self.time < limit and not self.shared:
                block = blocks.get(self.pc)
                if block is not None and self.time + block.lead < limit:
                    start, before = self.pc, self.retired
                    leaves = block.function(self, limit)
                    if not leaves:
                        if self.pc not in blocks:
                            cache.count_jump(self.pc)
                        continue
                    cache.note_exit(start, self.retired - before)
                    if self.time + block.lead >= limit:
                        return None  # the clock may give another limit
                stop = self.interpret(limit)
                if stop is not None:
                    return stop
        return None

    def _advance_traced(self, limit: int) -> Stop | None:
        """Execute instructions that issue before cycle `limit`, while the trace records.

        Raises `Fault`.
        """
        trace, is_heard = self.trace, bool(self.listeners)
        while self.tracing and self.time < limit and not self.shared:
            if self.retired >= trace.open_at:
                self.open_groups()
            if not is_heard and self.pc in self.counting.blocks:
                border = trace.open_at if trace.open_at < trace.close_at else trace.close_at
                ended = self.run_traced_block(limit, border - self.retired)
                if ended != ABSENT and self.retired >= trace.close_at:
                    self.close_groups()
                if ended == LATE:
                    return None
                if ended == DONE or self.time >= limit:
                    continue
            stop = self.interpret(limit)
            if stop is not None:
                return stop
        return None
