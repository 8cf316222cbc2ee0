"""Converts matrices to nnp's native tiles and vectors to native vectors, and back.

N is the native dimension (`nnp.native`). Padding is zeros.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def tiles_of(matrix: Array, native: int) -> Array:
    """Return a matrix (rows, columns) as tiles (tiles, N, N), one row of tiles after the other."""
    rows, columns = (-(-size // native) for size in matrix.shape)
    whole = np.zeros((rows * native, columns * native), matrix.dtype)
    whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    cut = whole.reshape(rows, native, columns, native).swapaxes(1, 2)
    return np.ascontiguousarray(cut.reshape(-1, native, native))


def matrix_from_tiles(tiles: Array, shape: tuple[int, int]) -> Array:
    """Return the matrix of `shape` (rows, columns) from its tiles (tiles, N, N)."""
    native = tiles.shape[-1]
    rows, columns = (-(-size // native) for size in shape)
    cut = tiles.reshape(rows, columns, native, native).swapaxes(1, 2)
    whole = cut.reshape(rows * native, columns * native)
    return np.ascontiguousarray(whole[: shape[0], : shape[1]])


def vectors_of(array: Array, native: int) -> Array:
    """Return vectors (count, elements) as native vectors (count · ceil(elements / N), N)."""
    count, elements = array.shape
    whole = np.zeros((count, -(-elements // native) * native), array.dtype)
    whole[:, :elements] = array
    return whole.reshape(-1, native)


def from_vectors(vectors: Array, shape: tuple[int, int]) -> Array:
    """Return the vectors of `shape` (count, elements) from their native vectors (..., N)."""
    whole = vectors.reshape(shape[0], -1)
    return np.ascontiguousarray(whole[:, : shape[1]])
