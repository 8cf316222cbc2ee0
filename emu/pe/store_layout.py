"""Where the results of a store go in memory: their order by address, cut into beats."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ranges = list[tuple[int, int]]  # offset in the half, bytes


@lru_cache(maxsize=64)
def store_layout(
    offset: int, stride: int, steps: tuple[int, int, int], writers: bytes, size: int, width: int
) -> tuple[NDArray[np.intp], tuple[Ranges, ...]]:
    """The order of a store's elements by address, and the ranges of each beat.

    `steps` are the step, the elements stored before and the count of a PE; `writers` the indices of
    the PEs that write, as bytes. The cache helps because rows that do the same have equal stores.
    """
    step, before, count = steps
    address = offset + np.frombuffer(writers, np.intp)[:, None] * stride
    address = (address + (before + np.arange(count)) * step).reshape(-1)
    order = np.argsort(address, kind="stable")
    if width % size:
        return order, tuple(_cut(address[order].tolist(), size, width))
    return order, tuple(_cut_evenly(address[order], size, width))


def _cut_evenly(addresses: NDArray[np.int64], size: int, width: int) -> list[Ranges]:
    """The ranges of each beat if a beat holds a whole number of elements."""
    a_beat = width // size
    begins = np.ones(addresses.size, np.bool_)
    begins[1:] = np.diff(addresses) != size
    begins[::a_beat] = True
    first = np.flatnonzero(begins)
    length = np.diff(first, append=addresses.size) * size
    ranges = list(zip(addresses[first].tolist(), length.tolist(), strict=True))
    count = -(-addresses.size // a_beat)
    if len(ranges) == count:
        return [[piece] for piece in ranges]
    ends = np.searchsorted(first, np.arange(1, count + 1) * a_beat).tolist()
    return [ranges[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def _cut(addresses: list[int], size: int, width: int) -> list[Ranges]:
    """The ranges of each beat if an element may continue in the next one."""
    beats: list[Ranges] = []
    ranges: Ranges = []
    room = 0
    for address in addresses:
        at, end = address, address + size
        while at < end:
            if not room:
                ranges = []
                room = width
                beats.append(ranges)
            length = min(end - at, room)
            if ranges and sum(ranges[-1]) == at:
                ranges[-1] = (ranges[-1][0], ranges[-1][1] + length)
            else:
                ranges.append((at, length))
            at += length
            room -= length
    return beats
