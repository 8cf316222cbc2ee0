"""A cache of tiles of MatrixRf in the form that products need.

The cache is not part of the state, because all of it follows from the codes and exponents of the
register file.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.products import Tiles
from macaw.emu.nnp.quantisers import Quantised, Quantiser


class PreparedTiles:
    """A cache of the `Tiles` of a register file, by first entry and shape.

    `codes` (tiles, N, N) and `exponents` (tiles, N), or (tiles, N, blocks), are the arrays of the
    register file, which stores each exponent plus the quantiser's bias. The cache uses at most 16
    bytes for each number of the file, and drops the least recently used tiles first.
    """

    def __init__(
        self,
        codes: NDArray[np.int16],
        exponents: NDArray[np.uint8],
        matrix: Quantiser,
        vector: Quantiser,
    ) -> None:
        self._codes, self._exponents = codes, exponents
        self._matrix, self._vector = matrix, vector
        self._cache: OrderedDict[tuple[int, int, int], Tiles] = OrderedDict()
        self._limit = 16 * codes.size
        self._nbytes = 0

    def tiles(self, first: int, rows: int, cols: int) -> Tiles:
        """Return `rows` × `cols` tiles, which MatrixRf stores row by row from entry `first` on."""
        key = first, rows, cols
        tiles = self._cache.get(key)
        if tiles is not None:
            self._cache.move_to_end(key)
            return tiles
        native = self._codes.shape[-1]
        entries = slice(first, first + rows * cols)
        codes = self._codes[entries].reshape(rows, cols, native, native)
        exponents = self._exponents[entries].astype(np.int8) - self._matrix.bias
        exponents = exponents.reshape(rows, cols, *self._exponents.shape[1:])
        tiles = Tiles(Quantised(codes, exponents), self._matrix, self._vector)
        self._cache[key] = tiles
        self._nbytes += tiles.nbytes
        while self._nbytes > self._limit and len(self._cache) > 1:
            self._forget(next(iter(self._cache)))
        return tiles

    def invalidate(self, first: int, count: int) -> None:
        """Drop all cached tiles that use one of the `count` entries from `first` on."""
        for key in [x for x in self._cache if x[0] < first + count and first < x[0] + x[1] * x[2]]:
            self._forget(key)

    def invalidate_all(self) -> None:
        """Drop all cached tiles."""
        self._cache.clear()
        self._nbytes = 0

    def _forget(self, key: tuple[int, int, int]) -> None:
        self._nbytes -= self._cache.pop(key).nbytes
