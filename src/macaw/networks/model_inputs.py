"""Checks the inputs of a model: their names, types and shapes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from macaw import arguments
from macaw.errors import InputError
from macaw.phrases import shape_text


class ModelInput(Protocol):
    """An input of a model: its name, its shape, and the NumPy name of its element type."""

    @property
    def name(self) -> str: ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> str: ...


def model_arrays(
    declared: Sequence[ModelInput], inputs: Mapping[str, object]
) -> dict[str, NDArray[Any]]:
    """Return `inputs` as arrays, by name, after a check against the inputs that a model declares.

    The numbers of an array may have any order of bytes; those of the results have the machine's.
    Raises `InputError` for a wrong name, type or shape, and for a missing input.
    """
    names = [item.name for item in declared]
    for name in inputs:
        if name not in names:
            raise InputError(f"the model has no input '{name}'", "it has " + ", ".join(names))
    arrays = {}
    for item in declared:
        if item.name not in inputs:
            raise InputError(f"the input '{item.name}' is missing")
        arguments.check_values(inputs, {item.name: arguments.array})
        array = np.asarray(inputs[item.name])
        array = array.astype(array.dtype.newbyteorder("="), copy=False)
        if array.shape != item.shape or array.dtype != item.dtype:
            raise InputError(
                f"the input '{item.name}' is {array.dtype}, {shape_text(array.shape)}; the"
                f" model takes {item.dtype}, {shape_text(item.shape)}"
            )
        arrays[item.name] = array
    return arrays
