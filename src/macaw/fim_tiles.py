"""Converts matrices to the tiles of function-in-memory circuits (seed 004 Fig. 3), and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from macaw import arguments
from macaw.arguments import check_arguments
from macaw.asm.forms.fim import tiles
from macaw.emu import bfloat16
from macaw.errors import InputError
from macaw.isa.fim_circuit import (
    ARRANGEMENT_NAMES,
    ARRANGEMENTS,
    FORMAT_NAMES,
    FORMATS,
    SIDES,
    NumberFormat,
)
from macaw.phrases import suggestion


def _stored(value: Any) -> str | None:
    """Return None for an array of bfloat16 elements, else a text that describes such arrays.

    This is a check for `macaw.arguments`, which puts the text into the error message.
    """
    good = isinstance(value, np.ndarray) and bfloat16.is_stored_in(value.dtype)
    return None if good else "an array of bfloat16 elements"


_MATRIX = arguments.either("an array of numbers", arguments.array, _stored)
_FORMAT = arguments.optional(arguments.word)


@check_arguments(matrix=_MATRIX, layout=arguments.word, side=arguments.word, number_format=_FORMAT)
def tiled(
    matrix: ArrayLike, *, layout: str, side: str, number_format: str | None = None
) -> NDArray[Any]:
    """Return the numbers of a matrix in tiles, as the directive `.tiles` arranges them in memory.

    The result has shape (columns of memory, lanes) and the type of `matrix`. `layout` is the name
    of an arrangement that `.tiles` knows. `side` says which matrix of a product c = a · b it is:
    "a", "b" or "c". Raises `InputError` if the arguments do not fit each other, or a name is
    unknown.

    `number_format` is fp16, fp32, bf16 or int8. By default the type of `matrix` gives it: float16
    is fp16, float32 is fp32, int8 is int8, and bfloat16 of the package ml_dtypes or the type `V2`
    is bf16. With `number_format="bf16"`, `matrix` can also be a float32 array of bf16 numbers, such
    as `round_bfloat16` returns; the tiles then have 16 lanes.
    """
    array = np.asarray(matrix)
    form, elements = _elements(array, layout, side, number_format)
    if array.ndim != 2 or not array.size:
        raise InputError(f"the matrix has the shape {array.shape}, not rows and columns")
    rows, columns = array.shape
    data = tiles.tiled(elements.tobytes(), (rows, columns), form.size, layout, side, form.lanes)
    return _numbers(data, form, array.dtype).reshape(-1, form.lanes)


@check_arguments(
    columns=_MATRIX,
    shape=arguments.pair(1),
    layout=arguments.word,
    side=arguments.word,
    number_format=_FORMAT,
)
def untiled(
    columns: ArrayLike,
    shape: tuple[int, int],
    *,
    layout: str,
    side: str = "c",
    number_format: str | None = None,
) -> NDArray[Any]:
    """Return the matrix of `shape` (rows, columns) from its tiles in the order of memory.

    `layout` is the name of an arrangement that the directive `.tiles` knows. `side` says which
    matrix of a product c = a · b it is: "a", "b" or "c". With side "c", the tiles are results that
    a program has stored from the result register Rz. `number_format` is fp16, fp32, bf16 or int8,
    by default that of the type of `columns`. An output of the type bfloat16 is a float32 array, so
    its tiles need "bf16". Raises `InputError` if `columns` does not have as many elements as the
    tiles.
    """
    array, shape = np.asarray(columns), arguments.python_numbers(shape)
    form, elements = _elements(array, layout, side, number_format)
    try:
        data = tiles.untiled(elements.tobytes(), shape, form.size, layout, side, form.lanes)
    except ValueError as error:
        raise InputError(str(error)) from None
    return _numbers(data, form, array.dtype).reshape(shape)


def _elements(
    array: NDArray[Any], layout: str, side: str, number_format: str | None
) -> tuple[NumberFormat, NDArray[Any]]:
    """Return the number format of an array, and the array's elements with the bits that memory has.

    Raises `InputError` if the layout, side or number format is unknown, or if the array does not
    have numbers of the format.
    """
    form = _format(array, number_format)
    for what, word, words in (("layout", layout, ARRANGEMENT_NAMES), ("side", side, SIDES)):
        if word not in words:
            hint = suggestion(word, words)
            raise InputError(f"no {what} '{word}'", hint)
    (formats,) = (row.formats for row in ARRANGEMENTS if row.name == layout)
    if form.name not in formats:
        raise InputError(
            f"the layout {layout} takes {' or '.join(formats)}, not {form.name}",
            'number_format="bf16" says that float32 numbers are bf16'
            if array.dtype == np.float32 and not number_format
            else "",
        )
    elements = bfloat16.elements_of(array, form.dtype)
    if elements is None:
        is_bfloat16 = form.dtype == bfloat16.NAME
        raise InputError(
            f"the array is {array.dtype.name} and does not have {form.name} numbers",
            "macaw.round_bfloat16(array) rounds numbers; float32 holds the result"
            if is_bfloat16
            else f"array.astype(np.{form.numbers})",
        )
    return form, elements


def _format(array: NDArray[Any], name: str | None) -> NumberFormat:
    if name is None:
        stored = bfloat16.is_stored_in(array.dtype)
        name = bfloat16.NAME if stored else array.dtype.name
        form = next((row for row in FORMATS if row.dtype == name), None)
        if form is None:
            types = " or ".join(row.dtype for row in FORMATS)
            raise InputError(f"numbers of {array.dtype}, tiles hold {types}")
        return form
    if name not in FORMAT_NAMES:
        raise InputError(f"no number format '{name}'", suggestion(name, FORMAT_NAMES))
    return FORMATS[FORMAT_NAMES.index(name)]


def _numbers(data: bytes, form: NumberFormat, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the elements that the bytes `data` of memory contain, as numbers of the type `dtype`.

    The elements have the number format `form`.
    """
    elements = np.frombuffer(data, bfloat16.element_type(form.dtype))
    if bfloat16.is_stored_in(dtype):
        return elements.view(dtype).copy()
    return bfloat16.numbers(elements).astype(dtype)
