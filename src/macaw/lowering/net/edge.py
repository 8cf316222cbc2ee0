"""Describes how the device stores an input or output of a model."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.network import Quantisation


@dataclass(frozen=True)
class Edge:
    """An input or output of a model, and the tensor of the device that stores it.

    `name`, `shape` and `dtype` are those of the model, `tensor` and `integers` the name and the
    element type of the tensor on the device. If only the device has integers, `quantisation` says
    which real numbers they stand for. If the device has sums of the array, the host multiplies them
    by `multipliers`. If the model has integers, too, each is the device's integer plus `offset`.
    """

    name: str
    tensor: str
    integers: str
    shape: tuple[int, ...]
    dtype: str
    quantisation: Quantisation | None = None
    multipliers: NDArray[np.float32] | None = None
    offset: int = 0
