"""Tiles of MatrixRf prepared for products, kept as long as nobody writes to them.

Not state: whatever is here can be made again from the codes and exponents of the register file.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from macaw.emu.nnp.products import Tiles
from macaw.emu.nnp.quantisers import Quantised, Quantiser

_STORED = 15  # what is added to an exponent where it is stored


class PreparedTiles:
    """The tiles of a register file as `Tiles`, by their place and shape.

    `codes` (tiles, N, N) and `exponents` (tiles, N, stored + 15) are the file's own arrays. What is
    kept takes at most 16 bytes a number of the file; beyond that the least recently used goes.
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
        self._kept: OrderedDict[tuple[int, int, int], Tiles] = OrderedDict()
        self._limit = 16 * codes.size
        self._nbytes = 0

    def tiles(self, first: int, rows: int, cols: int) -> Tiles:
        """rows × cols tiles from entry `first` on, row by row."""
        key = first, rows, cols
        found = self._kept.get(key)
        if found is not None:
            self._kept.move_to_end(key)
            return found
        native = self._codes.shape[-1]
        entries = slice(first, first + rows * cols)
        codes = self._codes[entries].reshape(rows, cols, native, native)
        stored = self._exponents[entries].astype(np.int8).reshape(rows, cols, native)
        found = Tiles(Quantised(codes, stored - np.int8(_STORED)), self._matrix, self._vector)
        self._kept[key] = found
        self._nbytes += found.nbytes
        while self._nbytes > self._limit and len(self._kept) > 1:
            self._forget(next(iter(self._kept)))
        return found

    def written(self, first: int, count: int) -> None:
        """Entries from `first` on have changed."""
        for key in [x for x in self._kept if x[0] < first + count and first < x[0] + x[1] * x[2]]:
            self._forget(key)

    def clear(self) -> None:
        """Anything may have changed: a snapshot was restored."""
        self._kept.clear()
        self._nbytes = 0

    def _forget(self, key: tuple[int, int, int]) -> None:
        self._nbytes -= self._kept.pop(key).nbytes
