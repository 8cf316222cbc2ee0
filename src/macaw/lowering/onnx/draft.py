"""Drafts: graphs that are being rewritten, to which nodes and values can be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.values import Value, element_of


class Draft:
    """Nodes and values of a graph, which rewriting rules change.

    `nodes` is in the order of computation. A rule names a new value after the node to which the
    value belongs.
    """

    def __init__(self, graph: Graph, nodes: Iterable[Node] | None = None) -> None:
        self.graph = graph
        self.nodes: list[Node] = list(graph.nodes if nodes is None else nodes)
        self.values: dict[str, Value] = dict(graph.values)

    def free_name(self, name: str) -> str:
        """Return a name that no value has: `name`, or `name` with a number appended."""
        unique, number = name, 1
        while unique in self.values or not unique:
            number += 1
            unique = f"{name}_{number}"
        return unique

    def constant(self, name: str, array: NDArray[Any] | Sequence[int]) -> str:
        """Add `array` as a constant, and return its name, which begins with `name`."""
        numbers = np.asarray(array)
        unique = self.free_name(name)
        self.values[unique] = Value(numbers.shape, numbers, unique, element_of(numbers))
        return unique

    def value(self, name: str, shape: Sequence[int], element: int) -> str:
        """Add a value that a node computes and return its name, which begins with `name`.

        `element` is its element type (`TensorProto.DataType`).
        """
        unique = self.free_name(name)
        self.values[unique] = Value(tuple(shape), element=element)
        return unique

    def array(self, name: str) -> NDArray[Any] | None:
        """Return the array of a constant; None for another value, or for the empty name."""
        return self.values[name].array if name else None

    def finished(self, nodes: Sequence[Node], version: int | None = None) -> Graph:
        """Return the graph of these nodes, with the values that the nodes and the outputs use.

        `version` is the version of ONNX's operator set, by default the original graph's.
        """
        graph = self.graph
        used = {name for node in nodes for name in (*node.inputs, *node.outputs) if name}
        used |= {*graph.inputs, *graph.outputs}
        values = {name: value for name, value in self.values.items() if name in used}
        return replace(graph, nodes=tuple(nodes), values=values, version=version or graph.version)


def producers(nodes: Iterable[Node]) -> dict[str, Node]:
    """Return the node that computes each value, by the value's name."""
    return {name: node for node in nodes for name in node.outputs if name}


def readers(nodes: Iterable[Node], outputs: Sequence[str]) -> Counter[str]:
    """Return how often each value is read, by its name.

    An output of the graph counts as read once more.
    """
    return Counter([*(name for node in nodes for name in node.inputs if name), *outputs])


def scalar(array: NDArray[Any] | None) -> float | None:
    """Return the only number of `array`; None if `array` is None or has another size."""
    return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def renamed(node: Node, names: Mapping[str, str]) -> Node:
    """Return a copy of a node in which `names` replaces the names of values that it reads."""
    inputs = tuple(names.get(name, name) for name in node.inputs)
    return node if inputs == node.inputs else replace(node, inputs=inputs, proto=None)
