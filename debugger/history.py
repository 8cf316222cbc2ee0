"""Checkpoints: where a run was, close together near the present and farther apart with age.

Going back is: take the last checkpoint before the goal, and run forward to it; a device does
the same each time. No instruction is ever undone. Checkpoints share what has not changed
(pages of memory, arrays of state), and their number is bounded, so memory is.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from macaw.emu.device import Device, Snapshot

Position = tuple[int, int]  # cycle, turn: all before it in the order of (time, core) has acted
START: Position = (0, 0)
MOST = 48  # checkpoints that are kept
MOST_BYTES = 160 << 20  # that they hold beside what they share


class Edit(NamedTuple):
    """What somebody has set: the command that says it, and the focus that it was said under."""

    command: str  # empty: no command says it
    focus: str


@dataclass(frozen=True)
class Checkpoint:
    """A device's state at a position."""

    position: Position
    snapshot: Snapshot
    retired: dict[str, int]  # by core: instructions done
    cost: float  # seconds of running from the one before it
    edits: tuple[Edit, ...] = ()  # what somebody has set here: it is never dropped
    name: int = 0  # of the user's own: a number from 1, never dropped

    @property
    def edited(self) -> bool:
        """Whether somebody has set something here."""
        return bool(self.edits)

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
    _weights: list[int] = field(default_factory=list)  # bytes that the one before does not share

    def take(
        self, device: Device, cost: float = 0.0, edit: Edit | None = None, name: int | None = None
    ) -> Checkpoint:
        """Keep the present state. What was kept at the same position is replaced.

        `edit` is what somebody has just set, `name` the user's number for it, 0 the next one.
        """
        position = device.position
        old = self.at(position)
        known = old.name if old is not None else 0
        number = known if name is None else name or known or self._named + 1
        self._named = max(self._named, number)
        edits = (*(old.edits if old is not None else ()), *([edit] if edit is not None else ()))
        retired = {core.name: core.retired for core in device.order}
        point = Checkpoint(position, device.snapshot(), retired, cost, edits, number)
        place = bisect_left(self._positions(), position)
        self.points[place : place + (old is not None)] = [point]
        self._weights[place : place + (old is not None)] = [0]
        self._weigh(place)
        self._weigh(place + 1)
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
        self._keep(bisect_right(self._positions(), position))

    def forget_edits(self, position: Position) -> None:
        """A run goes on from here without the edits that came later: another future."""
        later = (x.position for x in self.points if x.edited and x.position > position)
        first = min(later, default=None)
        if first is not None:
            self._keep(bisect_left(self._positions(), first))

    def clear(self) -> None:
        """Another run begins."""
        self.points.clear()
        self._weights.clear()
        self._named = 0

    @property
    def bytes(self) -> int:
        """What all checkpoints hold together; what they share counts once."""
        return sum(self._weights)

    def _keep(self, count: int) -> None:
        """Forget all but the first ones."""
        del self.points[count:], self._weights[count:]

    def _weigh(self, place: int) -> None:
        if place < len(self.points):
            before = self.points[place - 1].snapshot if place else None
            self._weights[place] = own_bytes(self.points[place].snapshot, before)

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
                after.edits, after.name,
            )  # fmt: skip
            self.points[chosen : chosen + 2] = [joined]
            self._weights[chosen : chosen + 2] = [0]
            self._weigh(chosen)


def own_bytes(snapshot: Snapshot, before: Snapshot | None) -> int:
    """The bytes of arrays and pages of a snapshot that the one before does not share."""
    found = 0
    for name, state in {"": snapshot.memory, **snapshot.cores}.items():
        other: Mapping[str, Any] = {}
        if before is not None:
            other = before.cores[name] if name else before.memory
        for field_name, value in state.items():
            old = other.get(field_name)
            if isinstance(value, np.ndarray):
                found += 0 if old is value else value.nbytes
            elif (
                isinstance(value, dict) and value and isinstance(next(iter(value.values())), bytes)
            ):
                pages = old if isinstance(old, dict) else {}
                found += sum(len(x) for n, x in value.items() if pages.get(n) is not x)
    return found
