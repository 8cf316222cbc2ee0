"""Frozen ONNX graphs: nodes in order, with static shapes and constants under their ONNX names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

import onnx
from numpy.typing import NDArray

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.values import Value


@dataclass(frozen=True)
class Node:
    """One operation of a graph.

    `inputs` and `outputs` are names of values; an empty name stands for a value that is left out.
    `attributes` has numbers, lists of numbers, texts and `onnx.TensorProto`. `proto` is the
    `onnx.NodeProto` of the model, or None for a node that is not in the model.
    """

    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    proto: Any = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """The name of the node, or of its first output if the model gives the node no name."""
        return self.name or self.key

    @property
    def key(self) -> str:
        """The name of the first output that has a name. No other node of the graph has this key."""
        return next((name for name in self.outputs if name), "")


def node_of(proto: onnx.NodeProto) -> Node:
    """Return the node that the protocol buffer of an ONNX node describes."""
    attributes = {row.name: _text(onnx.helper.get_attribute_value(row)) for row in proto.attribute}
    inputs, outputs = tuple(proto.input), tuple(proto.output)
    return Node(proto.name, proto.op_type, inputs, outputs, attributes, proto)


def _text(value: Any) -> Any:
    """Return the value of an attribute with all bytes decoded."""
    if isinstance(value, list):
        return [_text(row) for row in value]
    return value.decode(errors="replace") if isinstance(value, bytes) else value


@dataclass(frozen=True)
class Graph:
    """Nodes in an order in which each value is computed before it is read.

    `values` has the shape and element type of each value, by name, and the array of each constant.
    `inputs` and `outputs` are names of values. `version` is the version of ONNX's operator set.
    `operators` has the operators of the model's nodes by `Node.label`, for messages. It leaves out
    nodes that share a label.
    """

    nodes: tuple[Node, ...]
    values: Mapping[str, Value]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    version: int
    operators: Mapping[str, str] = field(default_factory=dict)

    def constant(self, name: str) -> NDArray[Any] | None:
        """Return the array of a constant; None for another value, or for the empty name."""
        return self.values[name].array if name else None
