"""Splits a product over rows p and clusters q of the array in nine ways (seed 000 Fig. 9,
¶149-173).

A split names the dimension that the rows divide and the dimension that the clusters divide. If both
are the same, cluster q of row p has part number p + rows·q. A part has ceil(extent / parts)
elements. All parts have the same length, so all clusters do the same work; if necessary, the last
part begins earlier and overlaps others. If two parts overlap in M or N, both compute the overlap.
If they overlap in K, the later part has zero weights there.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass

SPLITS = {
    letter: (first, second)
    for letter, (first, second) in zip(
        "abcdefghi", [(first, second) for first in "MNK" for second in "MNK"], strict=True
    )
}


def start_of(extent: int, part: int, index: int) -> int:
    """Return the first element of part number `index` of a dimension.

    The dimension has `extent` elements, and each part has `part` elements. The last part is moved
    back so that it ends with the dimension.
    """
    return min(index * part, extent - part)


@dataclass(frozen=True)
class Partition:
    """A split of m × n × k over `rows` rows and `clusters` clusters of the array.

    `extents` is (m, n, k). If N is divided, each part has a multiple of `grain` outputs.
    """

    split: str
    rows: int
    clusters: int
    extents: tuple[int, int, int]  # lengths of M, N, K
    grain: int = 1  # of N: if N is divided, a part has a multiple of it, or all of N

    @cached_property
    def dims(self) -> tuple[str, str]:
        """The dimensions that the rows p and the clusters q divide: two of "M", "N" and "K"."""
        return SPLITS[self.split]

    def extent(self, dim: str) -> int:
        """Return the length of dimension "M", "N" or "K"."""
        return self.extents["MNK".index(dim)]

    def parts(self, dim: str) -> int:
        """Return the number of parts into which a dimension is divided."""
        first, second = self.dims
        return (self.rows if first == dim else 1) * (self.clusters if second == dim else 1)

    def length(self, dim: str) -> int:
        """Return the number of elements that each part has in a dimension."""
        return self._lengths[dim]

    @cached_property
    def _lengths(self) -> dict[str, int]:
        lengths = {dim: -(-self.extent(dim) // self.parts(dim)) for dim in "MNK"}
        if self.parts("N") > 1:
            whole = -(-lengths["N"] // self.grain) * self.grain
            lengths["N"] = min(whole, self.extent("N"))
        return lengths

    def index(self, dim: str, p: int, q: int) -> int:
        """Return the index of the part of a dimension that cluster q of row p computes."""
        first, second = self.dims
        if first == second:
            return p + self.rows * q if dim == first else 0
        return p if dim == first else q if dim == second else 0

    def start(self, dim: str, p: int, q: int) -> int:
        """Return the first element of a dimension that cluster q of row p computes."""
        part = self.length(dim)
        return start_of(self.extent(dim), part, self.index(dim, p, q))

    def indices(self, dim: str, rows: int, clusters: int) -> NDArray[np.int64]:
        """Return, for each row and cluster, the index of its part of dimension `dim`.

        The result has shape (rows, clusters).
        """
        p, q = np.ogrid[:rows, :clusters]
        first, second = self.dims
        scale = (int(first == dim), (self.rows if first == second else 1) * int(second == dim))
        return np.asarray(scale[0] * p + scale[1] * q)


def partition(
    split: str, rows: int, clusters: int, extents: tuple[int, int, int], grain: int = 1
) -> Partition:
    """Return how `split` divides a product among at most `rows` rows of `clusters` clusters.

    Rows and clusters that would get no work are left out (¶171). `extents` are the lengths of M, N
    and K. If N is divided, a part has a multiple of `grain` elements, or all of N.
    """
    whole = Partition(split, rows, clusters, extents, grain)
    first, second = whole.dims

    def tile_count(dim: str) -> int:
        return -(-whole.extent(dim) // whole.length(dim))

    if first == second:
        used_rows = min(rows, tile_count(first))
        used_clusters = min(clusters, -(-tile_count(first) // used_rows))
    else:
        used_rows, used_clusters = tile_count(first), tile_count(second)
    return Partition(split, used_rows, used_clusters, extents, grain)
