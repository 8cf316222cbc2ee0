"""Counts the items that enter and leave queues in an act, from the state before and after it.

A field of state determines the level of a queue (`macaw.isa.model.Queue.contents`). This field is a
list, the number of items in a ring buffer, or an array of flags. If a ring buffer of one element
gives and takes an item in the same cycle, its state does not change, and neither item is counted.
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
    """How many items have left (`pops`) and entered (`pushes`) one queue in an act of a core.

    An act is an instruction or, for some cores, a cycle.
    """

    place: Place
    queue: str
    pops: int
    pushes: int
    level: int  # number of items in the queue after the act


def fills_from_outside(core: Core) -> bool:
    """Return whether other cores put items into the queues of `core`.

    They do through a window of the core, or by requests to a core without instructions (the dma).
    """
    return bool(core.table.windows) or not core.table.instructions


class QueueTracker:
    """Some queues of one core, with the state that they had before the last act."""

    def __init__(self, device: Device, core: Core, queues: Iterable[tuple[Place, str]]) -> None:
        self.device = device
        self.core = core
        rows = {queue.name: queue for queue in core.table.queues}
        self.by_others = fills_from_outside(core)  # whether acts of other cores may change them
        self.queues = [
            (place, rows[name], Members(device, place).indices(rows[name].contents))
            for place, name in queues
        ]
        self._before: dict[str, Any] = {}

    def begin(self) -> None:
        """Prepare for a run: store the present state of the queues."""
        self._before = self._fields()

    def _fields(self) -> dict[str, Any]:
        """Return copies of the fields of state that contain the queues, by field name."""
        self.core.sync()
        copies: dict[str, Any] = {}
        for _, queue, _ in self.queues:
            for name in filter(None, (queue.contents, queue.head)):
                value = getattr(self.core.state, name)
                copies[name] = value.copy() if isinstance(value, np.ndarray) else list(value)
        return copies

    def look(self) -> Iterator[QueueDelta]:
        """Yield, for each queue that has changed since the last call, how many items have moved."""
        before, now = self._before, self._fields()
        self._before = now
        for place, queue, at in self.queues:
            pops, pushes = self._counts(queue, at, before, now)
            if pops or pushes:
                items = now[queue.contents]
                level = count_items(items if isinstance(items, list) else items[at])
                yield QueueDelta(place, queue.name, pops, pushes, level)

    def _counts(
        self, queue: Queue, at: tuple[int, ...], before: dict[str, Any], now: dict[str, Any]
    ) -> tuple[int, int]:
        """Return (items that have left, items that have entered) for a queue.

        `at` are the indices of the queue's place; `before` and `now` are the fields of state.
        """
        old, new = before[queue.contents], now[queue.contents]
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
    """Return (items that have left at the front, items that have entered at the end) of a list."""
    for pops in range(len(old)):
        rest = len(old) - pops
        if list(old[pops:]) == list(new[:rest]):
            return pops, len(new) - rest
    return len(old), len(new)
