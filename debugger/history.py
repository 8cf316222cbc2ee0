"""Checkpoints of a run, dense near the present, sparse far back.

Going back restores the last checkpoint before the goal and runs forward to it; a device repeats
exactly. No instruction is ever undone. Checkpoints share pages of memory and arrays of state that
have not changed; their number and their bytes are bounded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from macaw.emu.device import Device, Snapshot

Position = tuple[int, int]  # cycle, turn: all acts before it in order of (time, core) are done
START: Position = (0, 0)
MOST = 48  # checkpoints
MOST_BYTES = 160 << 20  # of all checkpoints, shared ones counted once


class Edit(NamedTuple):
    """A change of state by the user: the command, and the focus in which it was given."""

    command: str  # empty: it was no command
    focus: str


@dataclass(frozen=True)
class Checkpoint:
    """The state of a device at a position."""

    position: Position
    snapshot: Snapshot
    retired: dict[str, int]  # instructions done, by core
    cost: float  # seconds of running since the checkpoint before
    edits: tuple[Edit, ...] = ()  # here; a checkpoint with edits is never dropped
    number: int = 0  # from 1 if the user has made it: it is never dropped

    @property
    def has_edits(self) -> bool:
        """Whether the user has changed state here."""
        return bool(self.edits)

    @property
    def is_permanent(self) -> bool:
        """Whether it is never dropped."""
        return self.has_edits or bool(self.number) or self.position == START


@dataclass
class History:
    """The checkpoints of one run, in the order of their positions.

    No run repeats an edit: one to a later goal starts at the edit's checkpoint or after it.
    """

    most: int = MOST
    most_bytes: int = MOST_BYTES
    points: list[Checkpoint] = field(default_factory=list)
    _last_number: int = 0
    _weights: list[int] = field(
        default_factory=list
    )  # bytes of each that the one before does not share

    def take(
        self, device: Device, cost: float = 0.0, edit: Edit | None = None, number: int | None = None
    ) -> Checkpoint:
        """Add a checkpoint of the present state; it replaces one at the same position.

        `edit` is a change that the user has just made, `number` the user's number for the
        checkpoint, 0 for the next free one.
        """
        position = device.position
        old = self.at(position)
        old_number = old.number if old is not None else 0
        number = old_number if number is None else number or old_number or self._last_number + 1
        self._last_number = max(self._last_number, number)
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
        """The last checkpoint at or before a position; the first one is at the start of the run."""
        return self.points[bisect_right(self._positions(), position) - 1]

    def earlier(self, position: Position) -> Checkpoint | None:
        """The last checkpoint before a position; None if there is none."""
        place = bisect_left(self._positions(), position) - 1
        return self.points[place] if place >= 0 else None

    def floor(self, position: Position) -> Checkpoint:
        """The earliest checkpoint from which a run leads to a position: an edit's, or the start."""
        edits = (x for x in self.points if x.has_edits and x.position < position)
        return max(edits, key=lambda x: x.position, default=self.points[0])

    def last(self, holds: Callable[[Checkpoint], bool]) -> Checkpoint | None:
        """The last checkpoint that passes a test; None if there is none."""
        return next((point for point in reversed(self.points) if holds(point)), None)

    def user_checkpoint(self, number: int) -> Checkpoint | None:
        """The user's checkpoint of that number; None if there is none."""
        return next((point for point in self.points if point.number == number), None)

    def forget_after(self, position: Position) -> None:
        """Drop the checkpoints after a position: the state there has been edited."""
        self._keep(bisect_right(self._positions(), position))

    def forget_edits(self, position: Position) -> None:
        """Drop checkpoints from the first edit after a position on: a run goes on without it."""
        later = (x.position for x in self.points if x.has_edits and x.position > position)
        first = min(later, default=None)
        if first is not None:
            self._keep(bisect_left(self._positions(), first))

    def clear(self) -> None:
        """Drop all: another run starts."""
        self.points.clear()
        self._weights.clear()
        self._last_number = 0

    @property
    def bytes(self) -> int:
        """The bytes of all checkpoints together; what they share counts once."""
        return sum(self._weights)

    def _keep(self, count: int) -> None:
        """Drop all but the first `count`."""
        del self.points[count:], self._weights[count:]

    def _weigh(self, place: int) -> None:
        if place < len(self.points):
            before = self.points[place - 1].snapshot if place else None
            self._weights[place] = own_bytes(self.points[place].snapshot, before)

    def _positions(self) -> list[Position]:
        return [point.position for point in self.points]

    def _thin(self) -> None:
        """Drop checkpoints until the rest is within bounds.

        The one goes that leaves the smallest gap relative to its age. So gaps grow in proportion to
        the distance from the present.
        """
        while len(self.points) > 3 and (
            len(self.points) > self.most or (len(self.points) > 8 and self.bytes > self.most_bytes)
        ):
            now = self.points[-1].position[0] + 1
            best, chosen = float("inf"), 0
            for place in range(1, len(self.points) - 1):
                point = self.points[place]
                if point.is_permanent:
                    continue
                gap = self.points[place + 1].position[0] - self.points[place - 1].position[0]
                weight = (gap + 1) / (now - point.position[0] + 1)
                if weight < best:
                    best, chosen = weight, place
            if not chosen:
                return
            earlier, after = self.points[chosen], self.points[chosen + 1]
            merger = Checkpoint(
                after.position, after.snapshot, after.retired, earlier.cost + after.cost,
                after.edits, after.number,
            )  # fmt: skip
            self.points[chosen : chosen + 2] = [merger]
            self._weights[chosen : chosen + 2] = [0]
            self._weigh(chosen)


def own_bytes(snapshot: Snapshot, before: Snapshot | None) -> int:
    """The bytes of a snapshot's arrays and pages that the snapshot before does not share."""
    total = 0
    for name, state in {"": snapshot.memory, **snapshot.cores}.items():
        other: Mapping[str, Any] = {}
        if before is not None:
            other = before.cores[name] if name else before.memory
        for field_name, value in state.items():
            old = other.get(field_name)
            if isinstance(value, np.ndarray):
                total += 0 if old is value else value.nbytes
            elif (
                isinstance(value, dict) and value and isinstance(next(iter(value.values())), bytes)
            ):
                pages = old if isinstance(old, dict) else {}
                total += sum(len(x) for n, x in value.items() if pages.get(n) is not x)
    return total
