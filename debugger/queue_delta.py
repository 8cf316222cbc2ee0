"""What enters queues and what leaves them, read from their state before and after an act.

The field that says how full a queue is (`macaw.isa.model.Queue.held`) is a list, a count beside the
head of a ring, or marks of places. A ring of one place that gives and takes in one cycle looks as
if nothing had happened.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macaw.debugger.places import Place
from macaw.debugger.state_paths import Members, count_items

if TYPE_CHECKING:
    from macaw.emu.core import Core
    from macaw.emu.device import Device
    from macaw.isa.model import Queue


class QueueDelta(NamedTuple):
    """How many items a queue of one place has given and taken in an act."""

    place: Place
    queue: str
    pops: int
    pushes: int
    level: int  # how many it holds after the act


def fills_from_outside(core: Core) -> bool:
    """Whether other cores fill its queues: it has windows, or no program of its own."""
    return bool(core.table.windows) or not core.table.instructions


class QueueTracker:
    """Some queues of one core."""

    def __init__(self, device: Device, core: Core, queues: Iterable[tuple[Place, str]]) -> None:
        self.device = device
        self.core = core
        rows = {queue.name: queue for queue in core.table.queues}
        self.by_others = fills_from_outside(core)  # acts of other cores may change them
        self.queues = [
            (place, rows[name], Members(device, place).indices(rows[name].held))
            for place, name in queues
        ]
        self._before: dict[str, Any] = {}

    def begin(self) -> None:
        """Start a run: remember the queues as they are."""
        self._before = self._fields()

    def _fields(self) -> dict[str, Any]:
        """Copies of the fields of state that the queues lie in, by name."""
        self.core.sync()
        copies: dict[str, Any] = {}
        for _, queue, _ in self.queues:
            for name in filter(None, (queue.held, queue.head)):
                value = getattr(self.core.state, name)
                copies[name] = value.copy() if isinstance(value, np.ndarray) else list(value)
        return copies

    def look(self) -> Iterator[QueueDelta]:
        """What has entered and left since the last look, of queues where something has."""
        before, now = self._before, self._fields()
        self._before = now
        for place, queue, at in self.queues:
            pops, pushes = self._counts(queue, at, before, now)
            if pops or pushes:
                items = now[queue.held]
                level = count_items(items if isinstance(items, list) else items[at])
                yield QueueDelta(place, queue.name, pops, pushes, level)

    def _counts(
        self, queue: Queue, at: tuple[int, ...], before: dict[str, Any], now: dict[str, Any]
    ) -> tuple[int, int]:
        """Items that have left a queue, and that have entered it."""
        old, new = before[queue.held], now[queue.held]
        if isinstance(new, list):
            return _counts_of_lists(old, new)
        growth = np.asarray(new[at], np.int64) - np.asarray(old[at], np.int64)
        if not queue.head:
            return int(-growth[growth < 0].sum()), int(growth[growth > 0].sum())
        ring = int(self.device.config[queue.capacity])
        pops = (now[queue.head][at] - before[queue.head][at]) % ring
        pops = np.maximum(pops, -growth)
        return int(np.sum(pops)), int(np.sum(pops + growth))


def _counts_of_lists(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, int]:
    """Items that left at the front, and that entered at the end."""
    for pops in range(len(old) + 1):
        rest = len(old) - pops
        if list(old[pops:]) == list(new[:rest]):
            return pops, len(new) - rest
    return len(old), len(new)
