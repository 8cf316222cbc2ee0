"""The channel of external memory: it decides when an access starts and when it is ready."""

from __future__ import annotations

from macaw.emu.jitter import Jitter
from macaw.emu.pages import Sleeper
from macaw.emu.rules.transfers import channel_beats


class Channel:
    """The one channel of external memory, which serves accesses in the order of their cycles.

    If an instruction of vc accesses elements with a stride, the channel serves all its elements
    before an access that another core requests in the meantime.
    """

    def __init__(self, latency: int, width: int) -> None:
        self.latency = latency  # cycles
        self.width = width  # bytes of a beat
        self.free = 0  # the first cycle in which the channel can start a new access
        # a core that uses the channel without a call for each access
        self.sleeper: Sleeper | None = None
        # decides when noise keeps the memory busy; None: no noise
        self.jitter: Jitter | None = None

    def take(self, time: int, offset: int, length: int) -> tuple[int, int, int]:
        """Occupy the channel for an access of `length` bytes that is requested in cycle `time`.

        `offset` is the offset of the bytes in external memory. Return the number of beats, the
        cycle in which the first one starts, and the cycle in which the access is ready: start +
        latency + beats.
        """
        beats = channel_beats(offset, length, self.width)
        start = self.free if self.free > time else time
        self.free = start + beats
        return beats, start, start + self.latency + beats

    def partial(self, offset: int, length: int) -> int:
        """Return how many beats of an access carry fewer bytes than the channel is wide.

        The access has `length` bytes at `offset` of external memory.
        """
        if not length:
            return 0
        end = offset + length
        first, last = offset // self.width, (end - 1) // self.width
        if first == last:
            return int(length < self.width)
        return int(offset % self.width > 0) + int(end % self.width > 0)


class NoisyChannel(Channel):
    """The channel of a device with jitter: no access starts while noise keeps the memory busy."""

    def __init__(self, latency: int, width: int, jitter: Jitter) -> None:
        super().__init__(latency, width)
        self.jitter = self._noise = jitter

    def take(self, time: int, offset: int, length: int) -> tuple[int, int, int]:
        """Occupy the channel for an access, which starts in the first free cycle without noise.

        As for `Channel.take`, the access has `length` bytes from `offset` on and is requested in
        cycle `time`; the result is its number of beats, its first cycle, and when it is ready.
        """
        self.free = self._noise.free(max(self.free, time), 1)
        return super().take(time, offset, length)
