"""Declares which network a program computes: its layers and tensors by their names in the model.

`macaw compile` stores this description beside the sources. The assembler does not use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from macaw.isa.lazy_dataclass import dataclass
from macaw.isa.typed_records import NamedTuple


@dataclass(frozen=True, slots=True)
class ProgramLayer:
    """A layer of a network. The layer begins when cp reaches the symbol `symbol`.

    `name` is the name of the layer's node in the model; `inputs` and `output` are the names of the
    node's tensors there. `operator` is the node's operator, `core` the core that executes it.
    `predicted` is the predicted number of cycles, `bound` the least possible number.
    """

    name: str
    symbol: str
    operator: str
    core: str
    inputs: tuple[str, ...]
    output: str
    predicted: int
    bound: int


class Columns(NamedTuple):
    """Consecutive columns (last axis) of a tensor.

    `tensor` is the symbol of the tensor, `length` the number of columns.
    """

    tensor: str
    first: int
    length: int


@dataclass(frozen=True)
class ProgramNetwork:
    """The network of a program: its layers in the order of execution.

    `tensors` has the symbol of each tensor by the tensor's name in the model. `end` is the symbol
    of cp's code after the last layer. Some tensors of the model are only columns of another tensor.
    For such a tensor, `columns` says which columns, by the tensor's symbol; the program declares
    the tensor with the other tensor's shape.
    """

    name: str
    layers: tuple[ProgramLayer, ...]
    tensors: Mapping[str, str]
    end: str
    columns: Mapping[str, Columns] = field(default_factory=dict)

    @cached_property
    def numbers_by_file(self) -> Mapping[str, int]:
        """The numbers of the layers, by the names of their source files without folders."""
        return {f"{layer.symbol}.s": number for number, layer in enumerate(self.layers)}

    @cached_property
    def makers(self) -> Mapping[str, int]:
        """The number of the layer that computes a tensor, by the tensor's symbol; -1 for inputs."""
        results = {self.tensors[layer.output]: x for x, layer in enumerate(self.layers)}
        return dict.fromkeys(self.tensors.values(), -1) | results
