"""Predicts when all blocks of an island end that start together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import attrgetter

from macaw.emu.rules.fim_dram import align_up
from macaw.isa.config import Configuration
from macaw.isa.fim_islands import abilities
from macaw.lowering.fim.bank_timing import BankState, BankTiming
from macaw.lowering.fim.block_program import Block
from macaw.lowering.fim.instruction_timing import NEVER, Buffer, Island
from macaw.lowering.fim.repeated_rounds import RepeatedRounds

_MOST_STATES = 64  # that `BlocksTiming` knows
_SMALL = 1000  # so many words or times are few enough to know several


class BlocksTiming:
    """The times of blocks that start together: one simulation for each state of their island."""

    def __init__(self, blocks: Sequence[Block], config: Configuration, island: int) -> None:
        self._blocks, self._config, self._island = blocks, config, island
        self._step = abilities(config, island).divider
        self._known: dict[BankState, tuple[int, BankState]] = {}

    def end(self, banks: BankTiming, begin: int) -> int:
        """Return the cycle in which the last block ends if all start in cycle `begin`.

        From the cycle after the end of a block on, other accesses to its banks are possible.
        `banks` then has the state in which the blocks leave the banks, for accesses to their banks,
        or for any accesses after the end. Raises `ValueError` if the
        blocks would wait for one another forever.
        """
        begin = align_up(begin, self._step)
        every = range(banks.geometry.banks)
        before = banks.state(every, begin)
        if before in self._known:
            cycles, after = self._known[before]
            banks.put(every, after, begin)
            return begin + cycles
        end = _end(self._blocks, self._config, self._island, banks, begin)
        after = banks.state(every, begin)
        if len(self._known) < _MOST_STATES and len(after.commands) <= _SMALL:
            self._known[before] = end - begin, after
        return end


_blocks_timing = lru_cache(maxsize=256)(BlocksTiming)
_blocks_timing_large = lru_cache(maxsize=4)(BlocksTiming)  # the keys take megabytes


def blocks_timing(blocks: Sequence[Block], config: Configuration, island: int) -> BlocksTiming:
    """Return the times of an island's blocks; what they have simulated is known to later calls."""
    small = sum(len(block.items) for block in blocks) <= _SMALL
    return (_blocks_timing if small else _blocks_timing_large)(tuple(blocks), config, island)


_time = attrgetter("time")


def _end(
    blocks: Sequence[Block], config: Configuration, island: int, banks: BankTiming, begin: int
) -> int:
    """Return the cycle in which the last block ends, as `BlocksTiming.end` does."""
    there = Island(config, island, banks)
    there.buffers = [Buffer() for _ in range(8)]
    there.start(blocks, begin)
    rounds = RepeatedRounds(there)
    left = list(there.running)
    while left:
        now = min(left, key=_time)
        if now.time >= NEVER:
            raise ValueError("blocks wait for one another")
        limit = min([block.time for block in left if block is not now], default=NEVER)
        now.go(limit)
        if now.is_over:
            left.remove(now)
            banks.reserve(now.block.banks, now.time + 1)
        elif now.place == now.stop:
            rounds.check()
    return max(block.time for block in there.running)
