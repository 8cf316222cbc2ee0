"""Converts matrices and vectors to the native tiles and vectors of nnp (seed 003), and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.errors import InputError
from macaw.isa.config import settings
from macaw.lowering.nnp import tiles


def _native(value: Any) -> str | None:
    """Return None for a native dimension that a device can have, else a text for the message.

    This is a check for `macaw.arguments`.
    """
    most = settings()["nnp.native"].high
    assert most is not None
    good = arguments.whole(1)(value) is None and value <= most
    return None if good else f"a whole number from 1 to {most}, as the device's nnp.native"


@check_arguments(matrix=arguments.array, native=_native)
def native_tiles(matrix: ArrayLike, native: int) -> NDArray[Any]:
    """Return a matrix of shape (rows, columns) as native tiles of shape (tiles, native, native).

    The matrix is padded with zeros to whole tiles. The tiles follow one another row by row, as the
    instruction `m_rd` reads them. `native` is the device's `nnp.native`. Raises `InputError` for an
    array that is no matrix, and for a `native` that no device has.
    """
    return tiles.tiles_of(_matrix(matrix), int(native))


@check_arguments(array=arguments.array, shape=arguments.pair(1))
def from_native_tiles(array: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Return the matrix of `shape` (rows, columns) from native tiles (tiles, native, native).

    Raises `InputError` if `array` does not have the number of tiles that `shape` needs.
    """
    whole, shape = np.array(array), arguments.python_numbers(shape)
    if whole.ndim != 3 or whole.shape[1] != whole.shape[2] or not whole.size:
        raise InputError(f"the tiles have the shape {whole.shape}, not (tiles, native, native)")
    needed = -(-shape[0] // whole.shape[1]) * -(-shape[1] // whole.shape[1])
    if len(whole) != needed:
        raise InputError(f"a matrix of {shape} takes {needed} tiles, not {len(whole)}")
    return tiles.matrix_from_tiles(whole, shape)


@check_arguments(array=arguments.array, native=_native)
def native_vectors(array: ArrayLike, native: int) -> NDArray[Any]:
    """Return the rows of an array of shape (count, elements) as native vectors.

    The result has shape (count · ceil(elements / native), native). Each row begins with a new
    native vector, and zeros fill its last one. Raises `InputError` for an array that does not have
    two axes, and for a `native` that no device has.
    """
    return tiles.vectors_of(_matrix(array), int(native))


@check_arguments(array=arguments.array, shape=arguments.pair(1))
def from_native_vectors(array: ArrayLike, shape: tuple[int, int]) -> NDArray[Any]:
    """Return the vectors of `shape` (count, elements) from native vectors (vectors, native).

    Raises `InputError` if `array` does not have the number of native vectors that `shape` needs.
    """
    whole, shape = np.array(array), arguments.python_numbers(shape)
    if whole.ndim != 2 or not whole.size:
        raise InputError(f"the vectors have the shape {whole.shape}, not (vectors, native)")
    needed = shape[0] * -(-shape[1] // whole.shape[1])
    if len(whole) != needed:
        raise InputError(f"vectors of {shape} take {needed} native vectors, not {len(whole)}")
    return tiles.from_vectors(whole, shape)


def _matrix(array: ArrayLike) -> NDArray[Any]:
    whole = np.asarray(array)
    if whole.ndim != 2 or not whole.size:
        raise InputError(f"the array has the shape {whole.shape}, not rows and columns")
    return whole
