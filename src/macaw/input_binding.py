"""Binds arrays to a program's inputs: checks types and shapes, and finds the batch axis.

An array has the declared shape of its input, or one more leading axis, the batch axis. The program
runs once for each item of this axis.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program, Tensor
from macaw.emu import bfloat16
from macaw.errors import InputError, MissingInputError
from macaw.golden_description import DESCRIPTION_FILE, read_description
from macaw.isa.lazy_dataclass import dataclass
from macaw.phrases import did_you_mean, plural, shape_text


@dataclass(frozen=True)
class Binding:
    """The checked inputs of a program.

    `arrays` has the inputs by name. Those in `batched` have a batch axis, of length `items`;
    without such inputs `items` is None.
    """

    arrays: Mapping[str, NDArray[Any]]  # by name
    batched: frozenset[str]  # names of the inputs with a batch axis
    items: int | None  # length of the batch axis; None without a batch axis

    def item(self, index: int) -> dict[str, NDArray[Any]]:
        """Return the inputs for the run of item `index`."""
        return {
            name: array[index] if name in self.batched else array
            for name, array in self.arrays.items()
        }


def tensor_text(tensor: Tensor) -> str:
    """Return the name, type and shape of a tensor, such as `x (int8, 1 × 64)`."""
    return f"{tensor.name} ({tensor.dtype}, {shape_text(tensor.shape)})"


def join_inputs(
    inputs: Mapping[str, object] | None, keyword_inputs: Mapping[str, object]
) -> dict[str, object]:
    """Return the inputs of a mapping and of keywords as one dictionary.

    Raises `InputError` for a name that is in both.
    """
    for name in keyword_inputs:
        if name in (inputs or {}):
            raise InputError(f"input {name} is given twice, in the mapping and by its name")
    return {**(inputs or {}), **keyword_inputs}


def bind(program: Program, values: Mapping[str, object]) -> Binding:
    """Return `values` as checked inputs of the program.

    An array must have the declared type. A list or a number is converted if its values fit this
    type; a floating-point type may round them. Raises `InputError` for a wrong name, type or shape,
    and for a missing input.
    """
    declared = {tensor.name: tensor for tensor in program.inputs}
    for name in values:
        if name not in declared:
            raise InputError(
                f"the program has no input '{name}'",
                did_you_mean(name, declared) or _tensor_list(program.inputs, "input"),
            )
    missing = [tensor for name, tensor in declared.items() if name not in values]
    if missing:
        names = ", ".join(map(tensor_text, missing))
        raise MissingInputError(
            f"{plural(len(missing), 'input')} not given: {names}",
            f"{missing[0].name}=ARRAY, or a mapping of arrays by name",
            f"-i {missing[0].name}=FILE.npy" + _folder_hint(program, missing),
        )
    arrays = {name: _convert(declared[name], value) for name, value in values.items()}
    batched = frozenset(
        name for name, array in arrays.items() if _has_batch_axis(declared[name], array)
    )
    lengths = {name: len(arrays[name]) for name in arrays if name in batched}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{name} has {count}" for name, count in lengths.items())
        raise InputError(f"the inputs' batch axes differ: {each}")
    items = next(iter(lengths.values()), None)
    if items == 0:
        raise InputError(f"the batch axis of {', '.join(lengths)} is empty: nothing to run")
    return Binding(arrays, batched, items)


def _folder_hint(program: Program, missing: Iterable[Tensor]) -> str:
    """Return the end of a hint that names a folder to be run in place of the source.

    It is the folder of one of the program's sources, and its golden test has all missing
    inputs. The text is empty if there is no such folder.
    """
    for folder in sorted({Path(name).parent for name in program.source_files}):
        with suppress(InputError):
            if {tensor.name for tensor in missing} <= set(read_description(folder).inputs):
                return f", or the folder '{folder}', whose {DESCRIPTION_FILE} has inputs"
    return ""


def check_outputs(program: Program, names: Mapping[str, object]) -> None:
    """Raise `InputError` for a name that is not an output of the program."""
    declared = [tensor.name for tensor in program.outputs]
    for name in names:
        if name not in declared:
            raise InputError(
                f"the program has no output '{name}'",
                did_you_mean(name, declared) or _tensor_list(program.outputs, "output"),
            )


def _tensor_list(tensors: tuple[Tensor, ...], what: str) -> str:
    if not tensors:
        return f"it declares no {what} (.{what} NAME, TYPE, DIMENSION...)"
    return f"its {what}s are {', '.join(map(tensor_text, tensors))}"


def _convert(tensor: Tensor, value: object) -> NDArray[Any]:
    """Return `value` as a little-endian array of the tensor's declared type, in C order.

    For a bfloat16 tensor, the result is a float32 array of numbers that bfloat16 has. Raises
    `InputError` if the value does not fit.
    """
    dtype = bfloat16.numbers_type(tensor.dtype)
    masked = sys.modules.get("numpy.ma")  # not imported here, because that takes long
    if masked is not None and isinstance(value, masked.MaskedArray):
        raise InputError(f"input {tensor.name} is a masked array", "array.filled(...) has no mask")
    if isinstance(value, np.ndarray):
        array = value
        if tensor.dtype == bfloat16.NAME:
            return _bfloat16_numbers(tensor, array)
        if array.dtype.newbyteorder("=") != dtype:
            raise InputError(
                f"input {tensor.name} is {dtype.name}, the array given is {array.dtype.name}",
                _conversion(array, dtype),
            )
    else:
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise InputError(f"input {tensor.name}: no array can be made of it: {error}") from None
        if array.dtype.kind not in "biuf" or not _values_fit(array, tensor.dtype):
            raise InputError(f"input {tensor.name}: the values given do not fit {tensor.dtype}")
        if tensor.dtype == bfloat16.NAME:
            return bfloat16.round_bfloat16(array)
    return np.ascontiguousarray(array, dtype=dtype.newbyteorder("<")).reshape(array.shape)


def _bfloat16_numbers(tensor: Tensor, array: NDArray[Any]) -> NDArray[Any]:
    elements = bfloat16.elements_of(array, tensor.dtype)
    if elements is None:
        why = " and has other numbers" if array.dtype == np.float32 else ""
        raise InputError(
            f"input {tensor.name} is {tensor.dtype}, the array given is {array.dtype.name}{why}",
            "macaw.round_bfloat16(array) rounds numbers; float32 holds the result",
        )
    return bfloat16.numbers(elements)


def _conversion(array: NDArray[Any], dtype: np.dtype[Any]) -> str:
    """Return a hint that says how to convert an array to the type `dtype`."""
    if array.dtype.kind not in "biuf" or _values_fit(array, dtype.name):
        return f"convert it with array.astype('{dtype.name}')"
    if dtype.kind == "f":
        return f"not all values fit: scale them to at most {np.finfo(dtype).max:g}, then convert"
    limits = np.iinfo(dtype)
    return f"not all values fit: scale and round them to {limits.min} to {limits.max}, then convert"


def _values_fit(array: NDArray[Any], element_type: str) -> bool:
    """Return whether a conversion to `element_type` keeps the values of an array.

    A floating type may round a value, but a finite value that becomes infinite does not fit.
    """
    if array.size == 0:
        return True
    dtype = bfloat16.numbers_type(element_type)
    if dtype.kind == "f":
        is_bfloat16 = element_type == bfloat16.NAME
        with np.errstate(over="ignore"):
            rounded = bfloat16.round_bfloat16(array) if is_bfloat16 else array.astype(dtype)
        return np.array_equal(np.isfinite(rounded), np.isfinite(array))
    if array.dtype.kind == "f" and not np.array_equal(array, np.trunc(array)):
        return False
    limits = np.iinfo(dtype)
    # Python compares its own numbers exactly; NumPy would first round the limit to a float.
    return bool(array.min().item() >= limits.min and array.max().item() <= limits.max)


def _has_batch_axis(tensor: Tensor, array: NDArray[Any]) -> bool:
    if array.shape == tensor.shape:
        return False
    if array.shape[1:] == tensor.shape and array.ndim == len(tensor.shape) + 1:
        return True
    declared = shape_text(tensor.shape)
    raise InputError(
        f"input {tensor.name} is {declared}, the array given is {shape_text(array.shape)}",
        f"{declared}, or one more leading axis to run the program once an item",
    )
