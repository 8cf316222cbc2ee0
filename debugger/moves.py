"""What comes into queues and what leaves them, told by their state before and behind an act.

The field that says how full a queue is (`macaw.isa.model.Queue.held`) is a list, a count beside the
head of a ring, or marks of places. A ring of one place that gives and takes in one cycle looks as
if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macaw.debugger.accessors import Members, held
from macaw.debugger.places import Place

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.isa.model import Queue


class Move(NamedTuple):
    """What a queue of one place has given and taken in an act."""

    place: Place
    queue: str
    popped: int
    pushed: int
    level: int  # how much it holds then


def is_given(core: Core) -> bool:
    """Whether others fill its queues: it has windows, or no program of its own."""
    return bool(core.table.windows) or not core.table.instructions


class Moves:
    """Some queues of one core."""

    def __init__(self, device: Device, core: Core, queues: Iterable[tuple[Place, str]]) -> None:
        self.device = device
        self.core = core
        rows = {queue.name: queue for queue in core.table.queues}
        self.given = is_given(core)
        self.queues = [
            (place, rows[name], Members(device, place).part(rows[name].held))
            for place, name in queues
        ]
        self._before: dict[str, Any] = {}

    def begin(self) -> None:
        """A run begins: note how they are."""
        self._before = self._now()

    def _now(self) -> dict[str, Any]:
        self.core.sync()
        found: dict[str, Any] = {}
        for _, queue, _ in self.queues:
            for name in filter(None, (queue.held, queue.head)):
                value = getattr(self.core.state, name)
                found[name] = value.copy() if isinstance(value, np.ndarray) else list(value)
        return found

    def look(self) -> Iterator[Move]:
        """What has moved since the last look."""
        before, now = self._before, self._now()
        self._before = now
        for place, queue, at in self.queues:
            popped, pushed = self._moved(queue, at, before, now)
            if popped or pushed:
                holds = now[queue.held]
                level = held(holds if isinstance(holds, list) else holds[at])
                yield Move(place, queue.name, popped, pushed, level)

    def _moved(
        self, queue: Queue, at: tuple[int, ...], before: dict[str, Any], now: dict[str, Any]
    ) -> tuple[int, int]:
        old, new = before[queue.held], now[queue.held]
        if isinstance(new, list):
            return _of_lists(old, new)
        came = np.asarray(new[at], np.int64) - np.asarray(old[at], np.int64)
        if not queue.head:
            return int(-came[came < 0].sum()), int(came[came > 0].sum())
        ring = int(self.device.config[queue.capacity])
        popped = (now[queue.head][at] - before[queue.head][at]) % ring
        popped = np.maximum(popped, -came)
        return int(np.sum(popped)), int(np.sum(popped + came))


def _of_lists(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Items that left at the front, and that came at the end."""
    for popped in range(len(old) + 1):
        left = len(old) - popped
        if list(old[popped:]) == list(new[:left]):
            return popped, len(new) - left
    return len(old), len(new)
