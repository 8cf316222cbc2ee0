"""Noise in the timing of DRAM: runs with different seeds have different timing, like real chips.

Macaw defines the noise; no seed mentions it. A DRAM is busy for two reasons. A refresh comes every
jitter.refresh_interval cycles; the seed decides its phase. Other users of the memory come once in
each jitter.others_interval cycles, for at most jitter.others cycles; the seed decides when and for
how long. A request that comes while the DRAM is busy starts afterwards; noise does not interrupt a
request that has started. The busy cycles depend only on the seed and the settings, not on the
requests, nor on how a run is simulated, stopped or restored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ALL = (1 << 64) - 1


def scramble(number: int) -> int:
    """Return 64 pseudorandom bits that depend only on `number` (the finaliser of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _ALL
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _ALL
    return number ^ number >> 31


class Jitter:
    """The cycles in which noise makes one DRAM busy.

    `place` is the number of the DRAM within the device, so that each DRAM has its own noise.
    """

    def __init__(self, seed: int, place: int, config: Mapping[str, Any]) -> None:
        self.period = int(config["jitter.refresh_interval"])
        self.refresh = int(config["jitter.refresh"])
        self.slot = int(config["jitter.others_interval"])
        self.most = int(config["jitter.others"])
        self._seed = scramble(scramble(seed) + place)
        self._phase = self._seed % self.period
        self._known = -1, 0, 0  # an interval's number, and begin and end of its busy time

    def free(self, time: int, step: int) -> int:
        """Return the first of the cycles `time`, `time` + `step`, ... in which the DRAM is free."""
        while (end := self._free_again(time)) > time:
            time += -(-(end - time) // step) * step
        return time

    def next(self, time: int, limit: int) -> int:
        """Return the first busy cycle from `time` on, or `limit` if none comes before it."""
        for begin, _ in self._refreshes(time):
            limit = min(limit, max(begin, time))
        for slot in range(time // self.slot, -(-limit // self.slot)):
            begin, end = self._others(slot)
            if time < end and begin < end:
                return min(limit, max(begin, time))
        return limit

    def _free_again(self, time: int) -> int:
        """Return the first cycle after the noise that makes the DRAM busy in cycle `time`.

        It is `time` itself if the DRAM is free in that cycle.
        """
        taken = (*self._refreshes(time), self._others(time // self.slot))
        return max((end for begin, end in taken if begin <= time < end), default=time)

    def _refreshes(self, time: int) -> list[tuple[int, int]]:
        """Return a list with (begin, end) of the first refresh that ends after cycle `time`.

        The list is empty if the device has no refresh.
        """
        if not self.refresh:
            return []
        count = (time - self._phase - self.refresh) // self.period + 1
        begin = self._phase + count * self.period
        return [(begin, begin + self.refresh)]

    def _others(self, slot: int) -> tuple[int, int]:
        """Return begin and end of the time in which other users make the DRAM busy in one interval.

        `slot` is the number of the interval, from 0. Each interval has jitter.others_interval
        cycles.
        """
        known, begin, end = self._known
        if known != slot:
            random = scramble(self._seed + slot)
            length = (random >> 32) % (self.most + 1)
            begin = slot * self.slot + random % (self.slot - length + 1)
            end = begin + length
            self._known = slot, begin, end
        return begin, end
