"""The values of an ONNX graph: shape, element type, and the numbers of a constant."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError

LARGEST = 2 << 30  # bytes of the largest external memory that a device may have


@dataclass(frozen=True)
class Value:
    """A value: its shape, its element type in the model, and the array of a constant."""

    shape: tuple[int, ...]
    array: NDArray[Any] | None = None
    name: str = ""  # name in the model, for a constant
    element: int = TensorProto.FLOAT  # a `TensorProto.DataType`

    @property
    def constant(self) -> bool:
        """Whether the value is a constant."""
        return self.array is not None


def by_channel(bias: NDArray[Any], channels: int) -> NDArray[Any] | None:
    """Return a constant bias in shape (channels,), or None if it differs between rows.

    The last axis of the bias counts channels, or has the length 1.
    """
    if bias.size != math.prod(bias.shape[-1:]) or bias.size not in (1, channels):
        return None
    return np.broadcast_to(bias.reshape(-1), (channels,))


def element_of(array: NDArray[Any]) -> int:
    """Return the `TensorProto.DataType` of an array; texts and objects count as strings."""
    if array.dtype.kind in "OSUT":
        return int(TensorProto.STRING)
    return int(helper.np_dtype_to_tensor_dtype(np.dtype(array.dtype)))


def element_name(element: int) -> str:
    """Return the name of a `TensorProto.DataType` in lower case: float, int8 ..."""
    names = dict(zip(TensorProto.DataType.values(), TensorProto.DataType.keys(), strict=True))
    return str(names.get(element, f"type {element}")).lower()


@dataclass(frozen=True)
class Room:
    """A memory of `bytes` bytes in which a number takes `size` bytes."""

    bytes: int
    size: int


def check_room(room: Room, numbers: int, others: int) -> None:
    """Raise `LowerError` unless a memory has room for `numbers` + `others` numbers.

    `others` counts the numbers that are in the memory already.
    """
    needed = room.size * (numbers + others)
    if needed > room.bytes:
        more = ", with the inputs and what was moved before," if others else ""
        raise LowerError(
            f"{numbers:,} numbers{more} take {needed:,} bytes, external memory has {room.bytes:,}",
            "mem.external_bytes",
        )
