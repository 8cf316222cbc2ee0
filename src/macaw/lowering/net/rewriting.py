"""Defines the network that rules rewrite: its new layers and tensors, and steps that rules use."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.isa.config import Configuration
from macaw.isa.pe import SUM_DTYPES, widest_of
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.network import (
    Layer,
    MoveLayer,
    Network,
    Output,
    Quantisation,
    Requantisation,
    RescaleLayer,
    Tensor,
)
from macaw.lowering.onnx.requantise import requantisation
from macaw.lowering.operation import operand_dtypes

WIDE = "int16"  # can hold each int8 number minus an int8 zero point
# By the type of the result: the largest right shift that equals a product in binary32 for every
# sum. With these shifts, each sum that binary32 cannot represent saturates.
EXACT_SHIFTS = {"int8": 16, "int16": 9}


def single_shift(output: Requantisation, dtype: str) -> int | None:
    """Return the right shift that has the effect of all multipliers, or None if there is none.

    The shift must be exact for results of type `dtype`.
    """
    shifts = output.shifts
    if shifts is None or np.ptp(shifts) or not 0 <= shifts.flat[0] <= EXACT_SHIFTS[dtype]:
        return None
    return int(shifts.flat[0])


class Rewriting:
    """A network that is being rewritten: its new layers so far.

    `tensors` has the tensors of the model and the new tensors.
    """

    def __init__(
        self, model: Network, config: Configuration, islands: frozenset[str] = frozenset()
    ) -> None:
        self.model, self.config = model, config
        self.islands = islands  # names of layers and operators that the islands compute
        self.elements = operand_dtypes(config)
        self.sums = SUM_DTYPES[widest_of(config)]
        self.tensors = dict(model.tensors)
        self.constants = dict(model.constants)
        # signed tensors that a QuantizeLinear makes itself, so their SignLayer is left out
        self.signed: set[str] = set()
        self.layers: list[Layer] = []
        self.names: set[str] = set()  # names of layers
        # tensors that are not on the device: the numbers of their elements in another tensor
        self.gathered: dict[str, tuple[str, NDArray[np.int64]]] = {}
        self.reads: dict[str, int] = {}
        for layer in model.layers:
            for name in layer.inputs:
                self.reads[name] = self.reads.get(name, 0) + 1

    def add(self, layer: Layer) -> None:
        """Append a layer; change its name if another layer has it."""
        name, number = layer.name, 2
        while name in self.names:
            name, number = f"{layer.name}_{number}", number + 1
        self.names.add(name)
        self.layers.append(replace(layer, name=name))

    def tensor(self, name: str, like: Tensor, **changes: Any) -> str:
        """Add a copy of tensor `like` with some fields changed, and return its name.

        The name is `name`, with a number if another tensor has this name.
        """
        unique, number = name, 2
        while unique in self.tensors or unique in self.constants:
            unique, number = f"{name}_{number}", number + 1
        self.tensors[unique] = replace(like, name=unique, **changes)
        return unique

    def moved(self, layer: Layer, name: str, result: str, turn: list[int]) -> str:
        """Append a Transpose of tensor `name`; return the name of its result.

        If the order stays the same, append nothing and return `name`. The result's name begins
        with `result`. `turn` has the axes of tensor `name` in the order of the result.
        """
        if turn == sorted(turn):
            return name
        x = self.tensors[name]
        unique = self.tensor(result, x, shape=tuple(x.shape[axis] for axis in turn))
        node = Node(f"{layer.name}_turn", "Transpose", (name,), (unique,), {"perm": turn})
        self.add(MoveLayer(node.name, "Transpose", (name,), (unique,), layer.parts, node, (None,)))
        return unique

    def append_movement(
        self,
        layer: Layer,
        operator: str,
        inputs: tuple[str, ...],
        result: str,
        attributes: dict[str, Any] | None = None,
    ) -> None:
        """Append a layer that makes `result` by an ONNX operator that moves elements."""
        name = f"{layer.name}_{operator.lower()}"
        node = Node(name, operator, inputs, (result,), attributes or {})
        rescales = (None,) * len(inputs)
        self.add(MoveLayer(name, operator, inputs, (result,), layer.parts, node, rescales))

    def reshape_to(self, layer: Layer, name: str, result: str) -> None:
        """Append a Reshape that makes tensor `result` from the elements of tensor `name`."""
        shape = self.tensors[result].shape
        sizes = self.constant(f"{result}_shape", np.asarray(shape, np.int64))
        self.append_movement(layer, "Reshape", (name, sizes), result)

    def reshaped(self, layer: Layer, name: str, shape: tuple[int, ...], wanted: str) -> str:
        """Return the name of a tensor with the elements of tensor `name` in shape `shape`.

        This is `name` if the tensor has this shape. Otherwise the method appends a Reshape, whose
        result has a name that begins with `wanted`.
        """
        x = self.tensors[name]
        if x.shape == shape:
            return name
        unique = self.tensor(wanted, x, shape=shape)
        self.reshape_to(layer, name, unique)
        return unique

    def constant(self, name: str, array: NDArray[Any]) -> str:
        """Add the array as a constant that is no tensor of the device; return its name."""
        unique, number = name, 2
        while unique in self.tensors or unique in self.constants:
            unique, number = f"{name}_{number}", number + 1
        self.constants[unique] = array
        return unique

    # --- new types, zero points and scales ---

    def rescale(
        self,
        layer: Layer,
        source: str,
        result: str,
        output: Output,
        *,
        zero: int = 0,
        axis: int = 1,
    ) -> None:
        """Append the layer that makes tensor `result` from tensor `source`, as `output` says.

        `zero` is the zero point of `source`. `axis` is the dimension along which multipliers of
        `output` differ.
        """
        last = result in layer.outputs and layer.name not in self.names
        name = layer.name if last else f"{layer.name}_rescale"
        self.add(
            RescaleLayer(name, "Rescale", (source,), (result,), layer.parts, output, zero, axis)
        )

    def centred(self, layer: Layer, name: str, zero: int) -> str:
        """Return the name of the int16 tensor that has the integers of tensor `name` minus `zero`.

        This is `name` itself if it is int16 and `zero` is 0. Otherwise a new layer makes it from
        int8. Raises `LowerError` for any other tensor.
        """
        tensor = self.tensors[name]
        if tensor.dtype == WIDE and not zero:
            return name
        if tensor.dtype != "int8":
            raise LowerError(
                f"its input is {tensor.dtype} with the zero point {zero}",
                "int8, or int16 with the zero point 0",
            )
        scale = tensor.quantisation.scale if tensor.quantisation else 1.0
        wide = self.tensor(f"{name}_wide", tensor, dtype=WIDE, quantisation=Quantisation(scale))
        same = requantisation(1.0, Quantisation(scale), WIDE)
        self.rescale(layer, name, wide, same, zero=zero)
        return wide

    def finished(self, layer: Layer, output: Requantisation) -> tuple[str, Requantisation]:
        """Add an int16 tensor, which will hold a layer's result without its zero point.

        Return the name of this tensor, and the requantisation that makes it from the layer's sums.
        `output` is the requantisation to the layer's own result. The caller lets a new layer make
        the int16 tensor, and then calls `finish`, which converts this tensor to the layer's result.
        Raises `LowerError` if the layer's result is itself int16 and has a zero point other than 0.
        """
        tensor = self.tensors[layer.outputs[0]]
        scale = tensor.quantisation.scale if tensor.quantisation else 1.0
        if tensor.dtype == WIDE and output.zero_point:
            raise LowerError(f"its result is int16 with the zero point {output.zero_point}", "0")
        wide = self.tensor(
            f"{tensor.name}_wide", tensor, dtype=WIDE, quantisation=Quantisation(scale)
        )
        return wide, requantisation(output.multipliers, Quantisation(scale), WIDE)

    def finish(self, layer: Layer, source: str, output: Requantisation) -> None:
        """Append the layer that converts the int16 tensor `source` to the result of `layer`.

        `source` is the tensor that `finished` has added: the result before its zero point is added.
        The new layer adds the zero point of `output` and limits the result to its type and range.
        """
        last = replace(output, multipliers=np.asarray(1.0, np.float32))
        self.rescale(layer, source, layer.outputs[0], last)

    def is_plain(self, names: Iterable[str], zeros: Iterable[int], output: Requantisation) -> bool:
        """Return whether the tensors `names` have one type, and all zero points are 0.

        The zero points are the numbers `zeros` and the zero point of `output`.
        """
        types = {self.tensors[name].dtype for name in names}
        return len(types) == 1 and not any(zeros) and not output.zero_point
