"""The layout of a store: the addresses of its results, and the results that each beat carries."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Ranges = list[tuple[int, int]]  # offset in the half, number of bytes


@lru_cache(maxsize=256)
def store_layout(
    offset: int, stride: int, steps: tuple[int, int, int], writers: bytes, size: int, width: int
) -> tuple[NDArray[np.intp], tuple[Ranges, ...]]:
    """Return the order of a store's elements by address, and the ranges that each beat writes.

    - `offset`: the byte of the half at which the results of PE 0 of the row begin
    - `stride`: the distance in bytes between the results of two neighbouring PEs
    - `steps`: three numbers: the distance in bytes between results of a PE, the number of results
      that each PE has stored before, and the number that it stores now
    - `writers`: the numbers of the PEs that write, as the bytes of an array
    - `size`: the bytes of an element; `width`: the bytes of a beat

    Results are cached, because rows with the same program have equal stores. Do not change them.
    """
    step, before, count = steps
    address = offset + np.frombuffer(writers, np.intp)[:, None] * stride
    address = (address + (before + np.arange(count)) * step).reshape(-1)
    order = np.argsort(address, kind="stable")
    if width % size:
        return order, tuple(_cut(address[order].tolist(), size, width))
    return order, tuple(_cut_evenly(address[order], size, width))


def _cut_evenly(addresses: NDArray[np.int64], size: int, width: int) -> list[Ranges]:
    """Return the ranges (address, bytes) of each beat, if a beat carries whole elements.

    `addresses` has the sorted addresses of elements of `size` bytes; a beat has `width` bytes.
    """
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
    """Return the ranges (address, bytes) of each beat; an element may continue in the next beat.

    `addresses` has the sorted addresses of elements of `size` bytes; a beat has `width` bytes.
    """
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
