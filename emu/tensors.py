"""Named tensors of a program: converts between arrays and the bytes in memory."""

from __future__ import annotations

import sys
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.asm.program import Program, Tensor
from macaw.emu import bfloat16
from macaw.emu.faults import DeviceError


def find(program: Program | None, name: str) -> Tensor:
    """Return the program's tensor of this name.

    Raises `DeviceError` if there is no program, or if the program has no such tensor.
    """
    if program is None:
        raise DeviceError("no program is loaded")
    if not isinstance(name, str):
        raise DeviceError(f"the name of a tensor is a string, not a {type(name).__name__}")
    try:
        return program.tensor(name)
    except KeyError:
        names = [tensor.name for tensor in program.tensors]
        near = get_close_matches(name, names, 1)
        there = f"there are {', '.join(names)}" if names else "the program declares none"
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise DeviceError(f"no tensor is called '{name}', {there}{hint}") from None


def bytes_of(tensor: Tensor, array: object) -> bytes:
    """Convert an array to the little-endian bytes of a tensor, with the last axis fastest.

    Raises `DeviceError` unless the array has the tensor's declared dtype and shape. For a tensor of
    bfloat16, `macaw.emu.bfloat16.elements_of` says which arrays have this dtype.
    """
    masked = sys.modules.get("numpy.ma")  # not imported here, because that takes long
    if masked is not None and isinstance(array, masked.MaskedArray):
        raise DeviceError(f"tensor {tensor.name}: array.filled(...) makes an array without a mask")
    try:
        values = np.asarray(array)
    except ValueError as error:
        raise DeviceError(f"tensor {tensor.name}: no array can be made of it: {error}") from None
    elements = bfloat16.elements_of(values, tensor.dtype)
    if elements is None:
        raise DeviceError(f"tensor {tensor.name} is {tensor.dtype}, the array is {values.dtype}")
    if values.shape != tensor.shape:
        raise DeviceError(
            f"tensor {tensor.name} has the shape {_shape(tensor.shape)},"
            f" the array has {_shape(values.shape)}"
        )
    return elements.tobytes()


def array_of(tensor: Tensor, data: bytes) -> NDArray[Any]:
    """Return an array with the shape of `tensor`, made from its bytes in memory (`data`).

    The array has the tensor's declared dtype, but float32 if that is bfloat16.
    """
    found = bfloat16.numbers(np.frombuffer(data, bfloat16.element_type(tensor.dtype)))
    return found.astype(bfloat16.numbers_type(tensor.dtype)).reshape(tensor.shape)


def _shape(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "()"
