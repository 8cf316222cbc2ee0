"""The waits of a core: how it begins one, tries again, and ends it.

An instruction that cannot finish because another core is busy calls `wait(on, cores)` and leaves
`next_address` unchanged. When one of `cores` announces `changed` of the device at cycle t, the
waiting core's time becomes t + 1 and it tries the same instruction again, which may wait again.
When the try succeeds the core calls `proceed`. So a core that finishes at t lets its waiters
continue at t + 1, whatever their numbers. A core that waits for its own port or window calls
`wait(on)`, and sets its time itself when the answer or the bytes come.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.agents import Agent
from macaw.emu.waits import NEVER, Waiting
from macaw.emu.windows import WindowNotReady
from macaw.isa.model import Core as Table


class Waiter(Agent):
    """An agent that waits; `waited` are the cycles of the waits that are over."""

    def __init__(self, table: Table, name: str, number: int) -> None:
        super().__init__(table, name, number)
        self.waited = 0
        self.on_wait: Callable[[Waiting, int], object] | None = None  # of each wait, at its end

    def wait(self, on: str, cores: int = 0) -> None:
        """Wait until one of the cores in the mask changes, or until the own port answers."""
        since = self.time if self.waiting is None else self.waiting.since
        self.waiting = Waiting(on, since, cores)
        self.time = NEVER

    def postpone(self, later: WindowNotReady) -> None:
        """Wait until a window may be tried again."""
        self.wait(later.on, later.cores)
        if later.time < NEVER:
            self.time = self.aligned(later.time)

    def proceed(self) -> None:
        """End the wait at `self.time`; do nothing if there is none."""
        if self.waiting is not None:
            self.end_wait(self.time)

    def end_wait(self, time: int) -> None:
        """End the present wait at cycle `time`."""
        assert self.waiting is not None
        self.waited += time - self.waiting.since
        if self.on_wait is not None:
            self.on_wait(self.waiting, time)
        self.waiting = None
