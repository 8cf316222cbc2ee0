"""The history of a run: checkpoints, dense near the present and sparse far back.

To go back, the debugger restores the last checkpoint before the goal and runs forward to the goal.
A device repeats a run exactly, so no instruction is ever undone. Checkpoints share the pages of
memory and the arrays of state that have not changed between them. The number of checkpoints and
their size in bytes are bounded.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from macaw.emu.device import Device
from macaw.emu.snapshot import Snapshot

# (cycle, turn): all acts before it in the order of (time, core number) are done
Position = tuple[int, int]
START: Position = (0, 0)
MOST = 48  # the greatest number of checkpoints
MOST_BYTES = 160 << 20  # the greatest size of all checkpoints in bytes, shared data counted once


class Edit(NamedTuple):
    """A change of state by the user: the command, and the focus when it was executed."""

    command: str  # empty: not made by a command
    focus: str


@dataclass(frozen=True)
class Checkpoint:
    """The state of a device at a position of the run, to which the debugger can go back.

    `retired` has the number of instructions that each core had done by then. `cost` is the running
    time in seconds since the previous checkpoint. `number` is 1 or more if the user has made the
    checkpoint, else 0. A checkpoint of the user or with edits is never dropped to save memory.
    """

    position: Position
    snapshot: Snapshot
    retired: dict[str, int]
    cost: float
    edits: tuple[Edit, ...] = ()  # at this position
    number: int = 0

    @property
    def has_edits(self) -> bool:
        """Whether the user has changed state at this position."""
        return bool(self.edits)

    @property
    def is_permanent(self) -> bool:
        """Whether the history never drops the checkpoint to save memory."""
        return self.has_edits or bool(self.number) or self.position == START


@dataclass
class History:
    """The checkpoints of one run, in the order of their positions (`points`).

    There are at most `most` of them, with at most about `most_bytes` bytes. A replay does not
    repeat the user's edits. So a replay to a position after an edit starts at the edit's checkpoint
    or at a later one.
    """

    most: int = MOST
    most_bytes: int = MOST_BYTES
    points: list[Checkpoint] = field(default_factory=list)
    _last_number: int = 0
    _weights: list[int] = field(
        default_factory=list
    )  # by checkpoint: the bytes that the previous one does not share

    def take(
        self,
        device: Device,
        cost: float = 0.0,
        edits: tuple[Edit, ...] = (),
        number: int | None = None,
    ) -> Checkpoint:
        """Add a checkpoint of the present state and return it.

        If there is a checkpoint at this position, the new one replaces it. `cost` is the running
        time in seconds since the last checkpoint. `edits` are the changes that the user has just
        made; the edits of a replaced checkpoint remain in the new one. `number` is the user's
        number for the checkpoint. None means the number of the replaced checkpoint, or no number.
        0 means the number of the replaced checkpoint, or else the next free number.
        """
        position = device.position
        old = self.at(position)
        old_number = old.number if old is not None else 0
        number = old_number if number is None else number or old_number or self._last_number + 1
        self._last_number = max(self._last_number, number)
        edits = (*(old.edits if old is not None else ()), *edits)
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
        """Return the checkpoint at exactly this position, or None."""
        place = bisect_left(self._positions(), position)
        if place < len(self.points) and self.points[place].position == position:
            return self.points[place]
        return None

    def before(self, position: Position) -> Checkpoint:
        """Return the last checkpoint at or before a position.

        There is always such a checkpoint, because one is at the start of the run.
        """
        return self.points[bisect_right(self._positions(), position) - 1]

    def earlier(self, position: Position) -> Checkpoint | None:
        """Return the last checkpoint before a position, or None."""
        place = bisect_left(self._positions(), position) - 1
        return self.points[place] if place >= 0 else None

    def floor(self, position: Position) -> Checkpoint:
        """Return the earliest checkpoint from which a replay can reach a position.

        A replay does not repeat edits. So the result is the checkpoint of the last edit before the
        position or, if there was no edit, the checkpoint at the start of the run.
        """
        edits = (x for x in self.points if x.has_edits and x.position < position)
        return max(edits, key=lambda x: x.position, default=self.points[0])

    def last(self, holds: Callable[[Checkpoint], bool]) -> Checkpoint | None:
        """Return the last checkpoint for which `holds` returns True, or None."""
        return next((point for point in reversed(self.points) if holds(point)), None)

    def user_checkpoint(self, number: int) -> Checkpoint | None:
        """Return the checkpoint to which the user has given this number, or None."""
        return next((point for point in self.points if point.number == number), None)

    def forget_after(self, position: Position) -> None:
        """Drop the checkpoints after a position at which the user has edited the state."""
        self._keep(bisect_right(self._positions(), position))

    def forget_edits(self, position: Position) -> None:
        """Drop the checkpoint of the first edit after a position, and all later checkpoints.

        The session calls this method when a run continues from the position, because the new run
        does not contain these edits.
        """
        later = (x.position for x in self.points if x.has_edits and x.position > position)
        first = min(later, default=None)
        if first is not None:
            self._keep(bisect_left(self._positions(), first))

    def clear(self) -> None:
        """Drop all checkpoints, because another run starts."""
        self.points.clear()
        self._weights.clear()
        self._last_number = 0

    @property
    def bytes(self) -> int:
        """The size of all checkpoints in bytes. Data that several checkpoints share count once."""
        return sum(self._weights)

    def _keep(self, count: int) -> None:
        """Drop all checkpoints except the first `count`."""
        del self.points[count:], self._weights[count:]

    def _weigh(self, place: int) -> None:
        if place < len(self.points):
            before = self.points[place - 1].snapshot if place else None
            self._weights[place] = own_bytes(self.points[place].snapshot, before)

    def _positions(self) -> list[Position]:
        return [point.position for point in self.points]

    def _thin(self) -> None:
        """Drop checkpoints until their number and size are within the bounds.

        Each time, the method drops the checkpoint that leaves the smallest gap relative to the
        gap's distance from the present. So the gaps between checkpoints grow in proportion to this
        distance. The first, the last and the permanent checkpoints always remain. The bound of the
        size counts only while there are more than eight checkpoints.
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
    """Return the size in bytes of a snapshot's arrays and pages that `before` does not share."""
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
