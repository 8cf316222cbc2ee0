"""Divides arrays of samples into inputs of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.values import LARGEST, Room, check_room

Arrays = Mapping[str, NDArray[Any]]


def input_names(model: onnx.ModelProto) -> list[str]:
    """Return the names of those inputs of a model that are not initializers."""
    initial = {row.name for row in model.graph.initializer}
    return [row.name for row in model.graph.input if row.name not in initial]


def random_sample(
    model: onnx.ModelProto, dims: Mapping[str, int], constants: Sequence[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return one sample of random numbers for each input that is not in `constants`.

    Real numbers are normally distributed, integers are 0 or 1. An unknown size of the first
    dimension is 1. Raises `LowerError` for other unknown sizes, and for an input that is larger
    than any external memory.
    """
    random = np.random.default_rng(0)
    result = {}
    for row in model.graph.input:
        if row.name not in input_names(model) or row.name in constants:
            continue
        shape, dtype = _known_shape(row, dims), _element_type(row)
        if dtype.kind not in "biuf":
            raise LowerError(f"the input {message_name(row.name)} has no numbers")
        try:
            check_room(Room(LARGEST, 4), prod(shape), others=0)
        except LowerError as error:
            place = f"the input {message_name(row.name)}"
            raise LowerError(f"{place}: {error}", error.hint) from None
        numbers = random.standard_normal(shape)
        result[row.name] = (numbers if dtype.kind == "f" else numbers > 0).astype(dtype)
    return result


def _known_shape(row: onnx.ValueInfoProto, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Return the shape of an input, with sizes from `dims` for named dimensions.

    An unknown size of the first dimension is 1. Raises `LowerError` for other unknown sizes.
    """
    where = f"the input {message_name(row.name)}"
    if not row.type.tensor_type.HasField("shape"):
        raise LowerError(f"the model gives {where} no shape")
    shape = []
    for place, dim in enumerate(row.type.tensor_type.shape.dim):
        size = dim.dim_value or dims.get(dim.dim_param, 0)
        if size < 1 and place:
            name = message_name(dim.dim_param)
            hint = f"--dim {name}=N, dims={{'{name}': N}}" if name else ""
            raise LowerError(f"{where} has no size for {name or f'dimension {place}'}", hint)
        shape.append(max(size, 1))
    return tuple(shape)


def _element_type(row: onnx.ValueInfoProto) -> np.dtype[Any]:
    return np.dtype(onnx.helper.tensor_dtype_to_np_dtype(row.type.tensor_type.elem_type))


def samples(
    model: onnx.ModelProto,
    data: Arrays,
    dims: Mapping[str, int],
    constants: Sequence[str] = (),
) -> list[dict[str, NDArray[Any]]]:
    """Return the inputs of each run, by name.

    If an array has one dimension more than the model's input, each index of its first axis is a
    run. An array with as many dimensions as the input is cut along its first axis. Each part is
    then as long as the model or `dims` says for this axis, or 1 long if neither says a size.
    `constants` names the inputs for which `data` has no array. Raises `LowerError` for an array
    that is missing or does not fit its input, for a name in `data` that is no input, and if the
    inputs have different numbers of runs.
    """
    names = [name for name in input_names(model) if name not in constants]
    for name in data:
        if name not in names:
            some = ", ".join(message_name(name) for name in names[:8])
            raise LowerError(f"the model has no input '{message_name(name)}'", f"there are {some}")
    rows: dict[str, list[NDArray[Any]]] = {}
    for row in model.graph.input:
        if row.name not in names:
            continue
        if row.name not in data:
            raise LowerError(f"there are no data for the input {message_name(row.name)}")
        try:
            rows[row.name] = _cut(row, data[row.name], dims)
        except LowerError as error:
            where = f"the data of the input {message_name(row.name)}"
            raise LowerError(f"{where}: {error}", error.hint) from None
    counts = {name: len(parts) for name, parts in rows.items()}
    if len(set(counts.values())) != 1:
        text = ", ".join(f"{message_name(name)} {count}" for name, count in counts.items())
        raise LowerError(f"the inputs have different numbers of samples: {text}")
    return [dict(zip(rows, parts, strict=True)) for parts in zip(*rows.values(), strict=True)]


def _cut(
    row: onnx.ValueInfoProto, array: NDArray[Any], dims: Mapping[str, int]
) -> list[NDArray[Any]]:
    """Cut the array of an input's samples into one array for each run.

    `row` declares the input. `dims` gives sizes that the model leaves unknown, by name. Raises
    `LowerError` if the shape does not allow it, and for numbers that are not finite or do not fit
    the input's element type.
    """
    declared = row.type.tensor_type
    if not declared.HasField("shape"):
        raise LowerError("the model declares no shape for the input")
    rank = len(declared.shape.dim)
    dtype = _element_type(row)
    if array.dtype.kind not in "biuf" or dtype.kind not in "biuf":
        raise LowerError(f"numbers of the type {array.dtype} for {dtype}")
    if not array.size:
        raise LowerError("there are no samples")
    if not np.all(np.isfinite(array)):
        raise LowerError("not all numbers are finite")
    typed = array.astype(dtype)
    if dtype.kind != "f" and not np.array_equal(typed, array):
        raise LowerError(f"not all numbers are of the type {dtype}")
    if array.ndim == rank + 1:
        parts = list(typed)
    elif array.ndim == rank and rank:
        first = declared.shape.dim[0]
        known = first.dim_value if first.dim_value > 0 else dims.get(first.dim_param, 1)
        if len(typed) % known:
            raise LowerError(f"{len(typed)} rows are no multiple of the input's {known}")
        parts = np.split(typed, len(typed) // known)
    else:
        raise LowerError(
            f"an array of the shape {array.shape}",
            f"{rank} dimensions, or {rank + 1} with an axis of samples",
        )
    return parts
