"""Sizes of tiles that divide a length evenly."""

from __future__ import annotations


def even_tile(length: int, most: int) -> int:
    """Return the size of tiles that divide `length` into the fewest tiles of at most `most`.

    Of all such sizes it is the least, so the tiles are as equal as possible.
    """
    return -(-length // -(-length // most))


def even_sizes(length: int) -> list[int]:
    """Return the sizes of 1, 2, 3, ... tiles that divide `length` evenly, the largest first.

    Each is the least size with which this number of tiles is enough for the length. All numbers of
    tiles up to 16 are tried; after that, each number is a quarter larger than the previous number.
    The last size is 1.
    """
    sizes, tiles = [], 1
    while tiles < length:
        sizes.append(-(-length // tiles))
        tiles = tiles + 1 if tiles < 16 else tiles * 5 // 4
    return list(dict.fromkeys([*sizes, 1]))
