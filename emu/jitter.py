"""Noise of DRAM, so that two runs differ as two chips do: refresh, and other users of the memory.

A DRAM is busy at times that depend on the seed and the cycle alone: with a refresh every
jitter.refresh_interval cycles, whose phase the seed decides, and once in each
jitter.others_interval cycles with other users, for a time that the seed decides, jitter.others
cycles at most. A request that comes meanwhile starts after it; one that has started is not
interrupted. So a request in the same cycle always gets the same answer, however a run is
simulated, stopped or restored. [ours]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_ALL = (1 << 64) - 1


def scramble(number: int) -> int:
    """Return 64 bits that look random for a number (the finaliser of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _ALL
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _ALL
    return number ^ number >> 31


class Jitter:
    """The times in which one DRAM of a device is busy. `place` tells DRAMs of a device apart."""

    def __init__(self, seed: int, place: int, config: Mapping[str, Any]) -> None:
        self.period = int(config["jitter.refresh_interval"])
        self.refresh = int(config["jitter.refresh"])
        self.slot = int(config["jitter.others_interval"])
        self.most = int(config["jitter.others"])
        self._seed = scramble(scramble(seed) + place)
        self._phase = self._seed % self.period
        self._known = -1, 0, 0  # a slot, the begin and end of its busy time

    def free(self, time: int, step: int = 1) -> int:
        """Return the first free cycle of `time`, `time` + `step` and so on."""
        while (end := self._free_again(time)) > time:
            time += -(-(end - time) // step) * step
        return time

    def next(self, time: int, limit: int) -> int:
        """Return the first busy cycle from `time` on, `limit` if there is none before it."""
        for begin, _ in self._refreshes(time):
            limit = min(limit, max(begin, time))
        for slot in range(time // self.slot, -(-limit // self.slot)):
            begin, end = self._others(slot)
            if time < end and begin < end:
                return min(limit, max(begin, time))
        return limit

    def _free_again(self, time: int) -> int:
        """Return the end of what keeps the DRAM busy in cycle `time`; `time` if it is free."""
        taken = (*self._refreshes(time), self._others(time // self.slot))
        return max((end for begin, end in taken if begin <= time < end), default=time)

    def _refreshes(self, time: int) -> list[tuple[int, int]]:
        """Return begin and end of the refresh that ends after cycle `time`; [] without refresh."""
        if not self.refresh:
            return []
        count = (time - self._phase - self.refresh) // self.period + 1
        begin = self._phase + count * self.period
        return [(begin, begin + self.refresh)]

    def _others(self, slot: int) -> tuple[int, int]:
        """Return begin and end of the time in a slot in which other users have the DRAM."""
        known, begin, end = self._known
        if known != slot:
            random = scramble(self._seed + slot)
            length = (random >> 32) % (self.most + 1)
            begin = slot * self.slot + random % (self.slot - length + 1)
            end = begin + length
            self._known = slot, begin, end
        return begin, end
