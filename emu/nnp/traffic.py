"""Counts the beats of external memory that the accesses of chains take."""

from __future__ import annotations

import numpy as np

from macaw.emu.memory import Memory
from macaw.emu.nnp.schedules.chain import Addresses, Chain
from macaw.emu.nnp.schedules.timing import Timing
from macaw.emu.nnp.state import NnpState
from macaw.emu.ports import Port
from macaw.isa.nnp_entries import Access


class Traffic:
    """Counts beats of accesses to Dram, and adds them to the counters of a port."""

    def __init__(self, state: NnpState, timing: Timing, memory: Memory, port: Port) -> None:
        self.state, self.timing, self.memory, self.port = state, timing, memory, port

    def count(self, chain: Chain, first: int, count: int) -> None:
        """Add to the port's counters the beats of `count` iterations of a chain from `first` on."""
        for access in (chain.source, *chain.writes):
            if access.memory.setting:
                continue
            beats = self.beats(chain, access, first, count)
            if access.writes:
                self.port.external_writes += beats
                self.port.external_partial += self.partial_beats(chain, access, first, count)
            else:
                self.port.external_reads += beats

    def beats(self, chain: Chain, access: Access, first: int, count: int) -> int:
        """Return how many beats an access of a chain to Dram takes in iterations from `first` on.

        There are `count` iterations.
        """
        return int(self.timing.beats(*self.runs(chain, access, first, count)).sum())

    def partial_beats(self, chain: Chain, access: Access, first: int, count: int) -> int:
        """Return how many beats of `access`, a chain's write to Dram, carry less than a full beat.

        The result is for all `count` iterations from number `first` on.
        """
        addresses, length = self.runs(chain, access, first, count)
        channel = self.memory.channel
        offsets, times = np.unique(addresses % channel.width, return_counts=True)
        return sum(
            channel.partial(offset, length) * often
            for offset, often in zip(offsets.tolist(), times.tolist(), strict=True)
        )

    def runs(self, chain: Chain, access: Access, first: int, count: int) -> tuple[Addresses, int]:
        """Return the byte addresses that an access to Dram uses, and the number of bytes at each.

        The result is for `count` iterations of the chain from number `first` on, without padding.
        """
        length = self.timing.tile_bytes if chain.is_tiles else self.timing.vector_bytes
        entries = chain.addresses(access, first, count)
        return self.state.base + entries[entries >= 0] * length, length
