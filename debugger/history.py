"""Checkpoints: where a run was, close together near the present and farther apart with age.

Going back is: take the last checkpoint before the goal, and run forward to it; a device does
the same each time. No instruction is ever undone. Checkpoints share what has not changed
(pages of memory, arrays of state), and their number is bounded, so memory is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from emu.device import Device, Snapshot

Position = tuple[int, int]  # cycle, turn: all before it in the order of (time, core) has acted
START: Position = (0, 0)
MOST = 48  # checkpoints that are kept
MOST_BYTES = 160 << 20  # that they hold beside what they share


@dataclass(frozen=True)
class Checkpoint:
    """A device's state at a position."""

    position: Position
    snapshot: Snapshot
    retired: dict[str, int]  # by core: instructions done
    cost: float  # seconds of running from the one before it
    edited: bool = False  # somebody has set something here: it is never dropped
    name: int = 0  # of the user's own: a number from 1, never dropped

    @property
    def kept(self) -> bool:
        """Whether it must stay."""
        return self.edited or bool(self.name) or self.position == START


@dataclass
class History:
    """The checkpoints of one run, in the order of their positions.

    `edited` ones stand for what cannot be computed again: all goals behind one start there.
    """

    most: int = MOST
    most_bytes: int = MOST_BYTES
    points: list[Checkpoint] = field(default_factory=list)
    _named: int = 0

    def take(
        self, device: Device, cost: float = 0.0, edited: bool = False, named: bool = False
    ) -> Checkpoint:
        """Keep the present state. What was kept at the same position is replaced."""
        position = device.position
        old = self.at(position)
        name = old.name if old is not None else 0
        if named and not name:
            self._named += 1
            name = self._named
        edited = edited or (old is not None and old.edited)
        retired = {core.name: core.retired for core in device.order}
        point = Checkpoint(position, device.snapshot(), retired, cost, edited, name)
        place = bisect_left(self._positions(), position)
        self.points[place : place + (old is not None)] = [point]
        self._thin()
        return point

    def at(self, position: Position) -> Checkpoint | None:
        """The checkpoint at exactly that position."""
        place = bisect_left(self._positions(), position)
        if place < len(self.points) and self.points[place].position == position:
            return self.points[place]
        return None

    def before(self, position: Position) -> Checkpoint:
        """The last checkpoint at or before a position. There always is the one at the begin."""
        return self.points[bisect_right(self._positions(), position) - 1]

    def earlier(self, position: Position) -> Checkpoint | None:
        """The last checkpoint before a position."""
        place = bisect_left(self._positions(), position) - 1
        return self.points[place] if place >= 0 else None

    def floor(self, position: Position) -> Checkpoint:
        """The last point before a position from which a run leads to it: an edit, or the begin."""
        edits = (x for x in self.points if x.edited and x.position < position)
        return max(edits, key=lambda x: x.position, default=self.points[0])

    def last(self, holds: Callable[[Checkpoint], bool]) -> Checkpoint | None:
        """The last checkpoint of which something holds."""
        return next((point for point in reversed(self.points) if holds(point)), None)

    def named(self, name: int) -> Checkpoint | None:
        """The user's checkpoint of that number."""
        return next((point for point in self.points if point.name == name), None)

    def forget_after(self, position: Position) -> None:
        """The future has changed: what was kept of it is no more."""
        self.points = [point for point in self.points if point.position <= position]

    def forget_edits(self, position: Position) -> None:
        """A run goes on from here without the edits that came later: another future."""
        later = (x.position for x in self.points if x.edited and x.position > position)
        first = min(later, default=None)
        if first is not None:
            self.points = [point for point in self.points if point.position < first]

    def clear(self) -> None:
        """Another run begins."""
        self.points.clear()
        self._named = 0

    @property
    def bytes(self) -> int:
        """What all checkpoints hold together; what they share counts once."""
        seen: dict[int, int] = {}
        for point in self.points:
            _weigh(point.snapshot.memory, seen)
            _weigh(point.snapshot.cores, seen)
        return sum(seen.values())

    def _positions(self) -> list[Position]:
        return [point.position for point in self.points]

    def _thin(self) -> None:
        """Drop checkpoints until the rest is within bounds.

        The one goes that leaves the smallest gap for its age: so gaps grow with the distance
        from the present, each age having about as many.
        """
        while len(self.points) > 3 and (
            len(self.points) > self.most or (len(self.points) > 8 and self.bytes > self.most_bytes)
        ):
            now = self.points[-1].position[0] + 1
            best, chosen = float("inf"), 0
            for place in range(1, len(self.points) - 1):
                point = self.points[place]
                if point.kept:
                    continue
                gap = self.points[place + 1].position[0] - self.points[place - 1].position[0]
                weight = (gap + 1) / (now - point.position[0] + 1)
                if weight < best:
                    best, chosen = weight, place
            if not chosen:
                return
            gone, after = self.points[chosen], self.points[chosen + 1]
            joined = Checkpoint(
                after.position, after.snapshot, after.retired, gone.cost + after.cost,
                after.edited, after.name,
            )  # fmt: skip
            self.points[chosen : chosen + 2] = [joined]


def _weigh(value: Any, seen: dict[int, int]) -> None:
    """Add the bytes of arrays and pages in `value` to `seen`, each once."""
    if isinstance(value, np.ndarray):
        seen[id(value)] = value.nbytes
    elif isinstance(value, bytes):
        seen[id(value)] = len(value)
    elif hasattr(value, "values"):
        for item in value.values():
            _weigh(item, seen)
    elif isinstance(value, list | tuple):
        for item in value:
            _weigh(item, seen)
