"""Sizes of tiles that divide a length evenly."""

from __future__ import annotations


def even_tile(length: int, most: int) -> int:
    """Return the size of tiles that divide `length` into the fewest tiles of at most `most`.

    It is the smallest such size, so the tiles are as equal as possible: 5 for length 10 and `most`
    8.
    """
    return -(-length // -(-length // most))


def even_sizes(length: int) -> list[int]:
    """Return the sizes of tiles for 1, 2, 3, ... tiles that divide `length` evenly, largest first.

    For length 10 they begin with 10, 5, 4 (1, 2 and 3 tiles). Each is the smallest size with which
    so many tiles are enough for the length. All numbers of tiles up to 16 are tried; after that,
    each number is a quarter larger than the previous number. The last size is 1.
    """
    sizes, tiles = [], 1
    while tiles < length:
        sizes.append(-(-length // tiles))
        tiles = tiles + 1 if tiles < 16 else tiles * 5 // 4
    return list(dict.fromkeys([*sizes, 1]))
