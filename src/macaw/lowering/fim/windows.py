"""Stores each tile of A once in a buffer, if the rows of A are windows of an image.

A gather makes the rows of A from segments of another tensor, the image. The windows of a
convolution overlap, so many tiles of A are equal. The buffer has equal tiles once, in the order of
the image, and the block moves the buffer's start to the tile that it pulls next.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.fim.graph import Places, Task


@dataclass(frozen=True)
class Windows:
    """Says of which segments of an image the rows of A consist.

    Each segment has `width` consecutive numbers of the image.

    `begins` has, as bytes of 64-bit integers, the indices at which the segments of all rows begin.
    They count numbers of the image, from the first one that is used.
    """

    begins: bytes
    rows: int
    width: int

    @property
    def places(self) -> Places:
        """The index of each segment's first number, of shape (rows, segments of a row)."""
        return np.frombuffer(self.begins, np.int64).reshape(self.rows, -1)

    @property
    def numbers(self) -> int:
        """The count of numbers of the image from the first one that is used to the last one."""
        return int(self.places.max()) + self.width

    def of_rows(self, first: int, rows: int) -> Windows:
        """Return the windows of `rows` rows of A from row `first` on."""
        return _windows(self.places[first : first + rows], self.width)


def _windows(places: Places, width: int) -> Windows:
    begins = np.asarray(places - places.min(), np.int64)
    return Windows(begins.tobytes(), len(begins), width)


def row_places(gather: Task) -> Places:
    """Return the index in a gather's input at which each segment begins.

    The shape is (rows of the output, segments of a row).
    """
    return np.asarray(gather.places, np.int64).reshape(gather.output.rows, -1)


def windows_of(gather: Task) -> Windows:
    """Return the windows that a gather makes.

    Each row of its output must consist of whole segments: runs of numbers that it moves at once.
    """
    return _windows(row_places(gather), gather.width)


@dataclass(frozen=True)
class DistinctTiles:
    """The distinct tiles of some strips of A.

    A line is a row of a tile. `keys` has, for each tile in the order of the buffer, the index in
    the image at which each line begins; its shape is (tiles, lines). Indices count from the first
    number of the image that is used. `order` has the index of the tile that each strip needs at
    each step along k; its shape is (strips, steps).
    """

    keys: NDArray[np.int64]
    order: NDArray[np.int64]


@lru_cache(maxsize=256)
def distinct_tiles(
    windows: Windows, first: int, strips: int, tile: tuple[int, int]
) -> DistinctTiles:
    """Return the distinct tiles of `strips` strips from strip `first` on.

    `tile` has the sides (m, k) of a tile. Strips after the last strip equal the last strip, and
    rows after the last row equal the last row.
    """
    high, deep = tile
    numbers = np.arange(first, first + strips).clip(max=(windows.rows - 1) // high)
    rows = (numbers[:, None] * high + np.arange(high)).clip(max=windows.rows - 1).reshape(-1)
    steps = windows.places[rows][:, :, None] + np.arange(0, windows.width, deep)
    lines = steps.reshape(strips, high, -1).swapaxes(1, 2).reshape(-1, high)
    keys, order = np.unique(lines, axis=0, return_inverse=True)
    return DistinctTiles(keys, order.reshape(strips, -1))


@dataclass(frozen=True)
class LineGroups:
    """An image in another order, in which lines (rows of a tile) of one tile are side by side.

    The image has `pixels` pixels of `pitch` numbers each. Each pixel is cut into pieces of `deep`
    numbers. The new order has first piece 0 of every pixel, which is group 0, then piece 1 of every
    pixel, and so on. The last pixel of the image may be incomplete: `counts` has, for each group,
    the number of pixels that have this piece completely.
    """

    pitch: int
    deep: int
    pixels: int
    counts: tuple[int, ...]

    @property
    def numbers(self) -> int:
        """The count of numbers of the whole image in this order."""
        return self.pixels * self.pitch

    def places(self, keys: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return at which indices of the image in this order certain lines begin.

        `keys` has the index in the image, in its own order, at which each of these lines begins. A
        line is a row of a tile.
        """
        pixels, inside = np.divmod(keys, self.pitch)
        return (inside // self.deep * self.pixels + pixels) * self.deep


def line_groups(keys: Sequence[NDArray[np.int64]], deep: int, numbers: int) -> LineGroups | None:
    """Return the order of an image in which fewer copies bring the tiles, or None if there is none.

    `keys` has, for each block, the indices in the image at which the lines of its tiles begin
    (`DistinctTiles.keys`). A line has `deep` numbers; the image has `numbers` numbers. In the new
    order, lines from different places of the image are side by side, so one copy can move several.
    The distance that most neighbouring lines of a tile have counts as the length of a pixel.
    """
    every = np.concatenate(keys)
    distances, frequency = np.unique(np.diff(every, axis=1), return_counts=True)
    pitch = int(distances[frequency.argmax()]) if len(distances) else 0
    if pitch <= deep or pitch % deep or np.any(every % deep):
        return None
    pixels = -(-numbers // pitch)
    counts = ((numbers - (group + 1) * deep) // pitch + 1 for group in range(pitch // deep))
    groups = LineGroups(pitch, deep, pixels, tuple(counts))
    lines = sum(len(rows) * len(adjacent_lines(groups.places(rows), deep)) for rows in keys)
    return groups if sum(groups.counts) + lines < every.size else None


def adjacent_lines(places: NDArray[np.int64], deep: int) -> list[tuple[int, int]]:
    """Return the runs of lines of a tile that follow one another in memory without a gap.

    A line is a row of a tile and has `deep` numbers. `places` has the index at which each line of
    each tile begins, in shape (tiles, lines). A run must be without gaps in every tile. Each run is
    (index of its first line, number of lines).
    """
    joint = (np.diff(places, axis=1) == deep).all(axis=0)
    begins = [0, *(np.flatnonzero(~joint) + 1).tolist()]
    return [(first, last - first) for first, last in pairwise([*begins, places.shape[1]])]
