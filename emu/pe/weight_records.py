"""The format of weights in memory: a segment has one record (count, entries) for each slice."""

from __future__ import annotations

from functools import lru_cache
from struct import Struct
from typing import Any

import numpy as np

from macaw.isa.codec import codes
from macaw.isa.pe import ENTRY, WEIGHTS_RECORD

# by record: the byte at which its entries begin, and their number
Records = tuple[tuple[int, int], ...]


def entry_type(value_type: str) -> np.dtype[Any]:
    """Return the NumPy type of an entry in memory: an index, and a value of type `value_type`."""
    members = zip(ENTRY.offsets, codes(ENTRY), strict=True)
    layout = [(name, "<" + code) for name, code in members]
    layout.append(("value", np.dtype(value_type).newbyteorder("<").str))
    return np.dtype(layout)


@lru_cache(maxsize=8)
def records_of(data: bytes, entry: int) -> tuple[Records, int]:
    """Return the records of a segment of weights, and the byte after the last complete record.

    Each record is (byte where its entries begin, number of entries). If the byte after the last
    record is not the end of `data`, an incomplete record begins there. An entry has `entry` bytes.
    Results are cached, because several rows or clusters often get the same bytes.
    """
    records = []
    at, size, head = 0, len(data), WEIGHTS_RECORD.size
    count_at = Struct("<" + codes(WEIGHTS_RECORD)).unpack_from  # the only member of the record
    while at + head <= size:
        count = count_at(data, at)[0]
        end = at + head + entry * count
        if end > size:
            break
        records.append((at + head, count))
        at = end
    return tuple(records), at
