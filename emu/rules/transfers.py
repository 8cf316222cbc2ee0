"""Timing rules of the dma's transfers and of external memory (docs/memory.md)."""

from __future__ import annotations


def beat_length(anchor: int, position: int, row_bytes: int, width: int) -> int:
    """Return the bytes of the next beat of a row of which `position` bytes have moved.

    A beat ends at the next multiple of `width`, counted in addresses from `anchor`. The anchor is
    the address of the row in its destination or source.
    """
    return min(row_bytes - position, width - (anchor + position) % width)


def channel_beats(offset: int, length: int, width: int) -> int:
    """Return for how many cycles an access of `length` bytes occupies the external channel.

    It is one cycle for each aligned run of `width` bytes that the access touches.
    """
    return (offset + length - 1) // width - offset // width + 1 if length else 0


def transfer_end(last_write: int, data_there: int) -> int:
    """Return the first cycle after a transfer.

    `last_write` is the cycle of its last write; its last data are readable at `data_there`.
    """
    return max(last_write, data_there - 1) + 1
