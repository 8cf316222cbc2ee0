"""Converts matrices to the tiles of function-in-memory circuits (seed 004 Fig. 3), and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.asm.forms.fim import tiles
from macaw.errors import InputError
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, COLUMN_BYTES, FORMATS, SIDES
from macaw.phrases import suggestion


@check_arguments(matrix=arguments.array, layout=arguments.word, side=arguments.word)
def tiled(matrix: ArrayLike, *, layout: str, side: str) -> NDArray[np.generic]:
    """Return the numbers of a matrix in tiles, as the directive `.tiles` arranges them.

    The type of the matrix is float16, float32, or bfloat16 of the package ml_dtypes. The result has
    this type, and the shape (columns of memory, lanes). `layout` is the name of an arrangement.
    `side` says what the matrix is: the operand `a` or `b`, or the result `c`. Raises `InputError`
    for another type, shape, layout or side.
    """
    array = np.asarray(matrix)
    _check(array, layout, side)
    if array.ndim != 2:
        raise InputError(f"the matrix has the shape {array.shape}, not rows and columns")
    lanes = COLUMN_BYTES // array.itemsize
    rows, columns = array.shape
    data = tiles.tiled(array.tobytes(), (rows, columns), array.itemsize, layout, side, lanes)
    return np.frombuffer(data, array.dtype).reshape(-1, lanes).copy()


@check_arguments(
    columns=arguments.array, shape=arguments.pair(1), layout=arguments.word, side=arguments.word
)
def untiled(
    columns: ArrayLike, shape: tuple[int, int], *, layout: str, side: str = "c"
) -> NDArray[np.generic]:
    """Return the matrix of `shape` (rows, columns) from its tiles in the order of memory.

    With side `c`, the tiles are results that a program has stored from Rz. Raises `InputError` if
    `columns` does not have as many elements as the tiles.
    """
    array, shape = np.ascontiguousarray(columns), arguments.python_numbers(shape)
    _check(array, layout, side)
    lanes = COLUMN_BYTES // array.itemsize
    try:
        data = tiles.untiled(array.tobytes(), shape, array.itemsize, layout, side, lanes)
    except ValueError as error:
        raise InputError(str(error)) from None
    return np.frombuffer(data, array.dtype).reshape(shape).copy()


def _check(array: NDArray[np.generic], layout: str, side: str) -> None:
    formats = [row.dtype for row in FORMATS]
    if array.dtype.name not in formats:
        raise InputError(f"numbers of {array.dtype}, tiles hold {' or '.join(formats)}")
    for what, word, words in (("layout", layout, ARRANGEMENT_NAMES), ("side", side, SIDES)):
        if word not in words:
            hint = suggestion(word, words)
            raise InputError(f"no {what} '{word}'", hint)
