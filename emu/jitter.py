"""Noise of DRAM, so that two runs differ as two chips do: refresh, and others who are served first.

A DRAM is taken by others at times that depend on the seed and the cycle alone: for a refresh every
jitter.refresh_interval cycles, whose phase is the seed's, and once in each jitter.others_interval
cycles for as long as the seed says, jitter.others cycles at most. A request that comes meanwhile
begins behind it; one that has begun is not interrupted. So whoever asks in the same cycle gets the
same answer, however a run is simulated, stopped or restored. [ours]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macaw.emu.ports import Channel

_ALL = (1 << 64) - 1


def scrambled(number: int) -> int:
    """64 bits that look random, of a number (the finaliser of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _ALL
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    number = (number ^ number >> 27) * 0x94D049BB133111EB & _ALL
    return number ^ number >> 31


class Jitter:
    """When one DRAM of a device is taken by others. `place` tells DRAMs of a device apart."""

    def __init__(self, seed: int, place: int, config: Mapping[str, Any]) -> None:
        self.period = int(config["jitter.refresh_interval"])
        self.refresh = int(config["jitter.refresh"])
        self.slot = int(config["jitter.others_interval"])
        self.most = int(config["jitter.others"])
        self._seed = scrambled(scrambled(seed) + place)
        self._phase = self._seed % self.period
        self._known = -1, 0, 0  # a slot, and when it is taken

    def free(self, time: int, step: int = 1) -> int:
        """The first cycle that is not taken of `time`, `time` + `step` and so on."""
        while (end := self._behind(time)) > time:
            time += -(-(end - time) // step) * step
        return time

    def next(self, time: int, limit: int) -> int:
        """The first cycle from `time` on that is taken, `limit` if there is none before it."""
        for begin, _ in self._refreshes(time):
            limit = min(limit, max(begin, time))
        for slot in range(time // self.slot, -(-limit // self.slot)):
            begin, end = self._others(slot)
            if time < end and begin < end:
                return min(limit, max(begin, time))
        return limit

    def _behind(self, time: int) -> int:
        """The first cycle behind what takes cycle `time`; `time` if nothing does."""
        taken = (*self._refreshes(time), self._others(time // self.slot))
        return max((end for begin, end in taken if begin <= time < end), default=time)

    def _refreshes(self, time: int) -> list[tuple[int, int]]:
        """The refresh that has not ended at cycle `time`, if there are any."""
        if not self.refresh:
            return []
        count = (time - self._phase - self.refresh) // self.period + 1
        begin = self._phase + count * self.period
        return [(begin, begin + self.refresh)]

    def _others(self, slot: int) -> tuple[int, int]:
        """When others take the DRAM in a slot."""
        known, begin, end = self._known
        if known != slot:
            random = scrambled(self._seed + slot)
            length = (random >> 32) % (self.most + 1)
            begin = slot * self.slot + random % (self.slot - length + 1)
            end = begin + length
            self._known = slot, begin, end
        return begin, end


class NoisyChannel(Channel):
    """The channel of external memory of a device with jitter."""

    def __init__(self, latency: int, width: int, jitter: Jitter) -> None:
        super().__init__(latency, width)
        self.jitter = self._noise = jitter

    def take(self, time: int, offset: int, length: int) -> tuple[int, int, int]:
        """As `Channel.take`; nothing begins while others have the memory."""
        self.free = self._noise.free(max(self.free, time))
        return super().take(time, offset, length)
