"""Stop positions: the positions at which runs and steps forward have stopped."""

from __future__ import annotations

from macaw.debugger.history import START, Position

MOST = 2000  # the greatest number of positions that are stored


class StopPositions:
    """The positions at which the present run has stopped, to which steps back may return."""

    def __init__(self) -> None:
        self._positions: list[Position] = []

    def add(self, position: Position) -> None:
        """Add a position at which a run has stopped."""
        if position not in self._positions:
            self._positions.append(position)
            del self._positions[:-MOST]

    def clear(self) -> None:
        """Drop all positions, because another run starts."""
        self._positions.clear()

    def drop_from(self, position: Position) -> None:
        """Drop the positions from `position` on, because the user has edited the state there."""
        self._positions = [item for item in self._positions if item < position]

    def last(self, low: Position, end: Position) -> Position:
        """Return the last stop position from `low` up to (excluding) `end`; `low` without one."""
        inside = [item for item in self._positions if low <= item < end]
        return max(inside, default=max(low, START))
