"""Waits: how a core begins to wait for another core, tries its instruction again, and continues.

An instruction that cannot finish because another core is busy calls `wait(on, cores)` and leaves
`next_address` unchanged. When one of `cores` calls the device's `changed` in cycle t, the waiting
core's time becomes t + 1, or the next cycle of its own clock. The core tries the same instruction
again, and may wait again. If the instruction succeeds, the core calls `proceed`. So the cycle in
which a core continues does not depend on the order of the cores' numbers. A core that waits for its
own port or window calls `wait(on)`. This core sets its time itself when the answer or the bytes
arrive.
"""

from __future__ import annotations

from collections.abc import Callable

from macaw.emu.agents import Agent
from macaw.emu.waits import NEVER, Waiting
from macaw.emu.windows import WindowNotReady
from macaw.isa.model import Core as Table


class Waiter(Agent):
    """A core that can wait; `waited` counts the cycles of all waits that have ended."""

    def __init__(self, table: Table, name: str, number: int) -> None:
        super().__init__(table, name, number)
        self.waited = 0
        # called at the end of each wait
        self.on_wait: Callable[[Waiting, int], object] | None = None

    def wait(self, on: str, cores: int = 0) -> None:
        """Let the core wait until one of `cores` has finished something (`System.changed`).

        `cores` is a mask; 0 means that the core waits for its own port or window. `on` describes,
        for messages, what would end the wait.
        """
        since = self.time if self.waiting is None else self.waiting.since
        self.waiting = Waiting(on, since, cores)
        self.time = NEVER

    def postpone(self, later: WindowNotReady) -> None:
        """Wait until the core may try the window or memory of `later` again."""
        self.wait(later.on, later.cores)
        if later.time < NEVER:
            self.time = self.aligned(later.time)

    def proceed(self) -> None:
        """End the present wait, if there is one, at `self.time`."""
        if self.waiting is not None:
            self.end_wait(self.time)

    def end_wait(self, time: int) -> None:
        """End the present wait in cycle `time`."""
        assert self.waiting is not None
        self.waited += time - self.waiting.since
        if self.on_wait is not None:
            self.on_wait(self.waiting, time)
        self.waiting = None
