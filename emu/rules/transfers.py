"""The timing rules of the dma's transfers and of external memory (docs/memory.md)."""

from __future__ import annotations


def beat_length(anchor: int, position: int, row_bytes: int, width: int) -> int:
    """Return the bytes of the beat that follows `position` moved bytes of a row.

    A row is cut where its anchor, an address of its destination or its source, is a multiple of
    `width`.
    """
    return min(row_bytes - position, width - (anchor + position) % width)


def channel_beats(offset: int, length: int, width: int) -> int:
    """Return the cycles of the external channel for an access of `length` bytes.

    One for each aligned run of `width` bytes that it touches.
    """
    return (offset + length - 1) // width - offset // width + 1 if length else 0


def transfer_end(last_write: int, data_there: int) -> int:
    """Return the first cycle after a transfer whose last data are there at `data_there`."""
    return max(last_write, data_there - 1) + 1
