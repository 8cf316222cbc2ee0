"""Timing rules of the dma's transfers and of external memory (docs/memory.md)."""

from __future__ import annotations


def beat_length(anchor: int, position: int, row_bytes: int, width: int) -> int:
    """Return the number of bytes of the next beat of a row, after its first `position` bytes.

    `anchor` is the row's address in the destination or the source, whichever decides the alignment
    (`Transfer.anchor`). A beat ends where the address on that side is a multiple of `width`, or at
    the end of the row.
    """
    return min(row_bytes - position, width - (anchor + position) % width)


def channel_beats(offset: int, length: int, width: int) -> int:
    """Return for how many cycles an access of `length` bytes occupies the external channel.

    `offset` is the offset of the bytes in the memory. The access takes one cycle for each aligned
    block of `width` bytes that it touches.
    """
    return (offset + length - 1) // width - offset // width + 1 if length else 0


def transfer_end(last_write: int, data_there: int) -> int:
    """Return the first cycle after a transfer.

    `last_write` is the cycle of the transfer's last write. From cycle `data_there` on, other
    accesses can read all written data.
    """
    return max(last_write, data_there - 1) + 1
