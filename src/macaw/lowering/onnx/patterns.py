"""Finds patterns of nodes, such as `x * clip(x + 3, 0, 6) / 6`, from their last node backwards."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import field

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.draft import producers, readers, scalar
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.values import Value

COMMUTATIVE = ("Add", "Mul")


@dataclass(frozen=True)
class Anything:
    """Any value. The same name stands for the same value everywhere in a pattern."""

    name: str


@dataclass(frozen=True)
class Constant:
    """A constant of one element: `value`, within a relative error of `near`.

    If `value` is None, the constant may have any value. If it has a `name`, `Match.numbers` gets
    the value of the constant under this name.
    """

    value: float | None
    near: float = 0.0
    name: str = ""


class Op:
    """A node with this operator, whose inputs match the patterns `inputs`.

    `attributes` are numbers that the node has, within a relative error of 1e-4. No node outside of
    the pattern may read the result of a node inside it, except the result of the pattern's last
    node. The same `Op` with a `name` stands for the same node everywhere in a pattern.
    """

    def __init__(
        self,
        operator: str,
        *inputs: Anything | Constant | Op,
        name: str = "",
        attributes: Mapping[str, float] | None = None,
    ) -> None:
        self.operator, self.inputs, self.name = operator, inputs, name
        self.attributes = attributes or {}


Pattern = Op


@dataclass
class Match:
    """The part of a graph that matches a pattern.

    The keys of the dictionaries are names in the pattern: `values` gives the name of the value in
    the graph, `numbers` the number of a constant, and `named` the node of an `Op`. `nodes` has all
    nodes that match; the node that matches the pattern's last node is the first item.
    """

    values: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    named: dict[str, Node] = field(default_factory=dict)  # by name of an `Op`: its node

    def copy(self) -> Match:
        """Return a copy to which matches can be added independently."""
        return Match(dict(self.values), dict(self.numbers), list(self.nodes), dict(self.named))


class Found:
    """A graph for the search: its values, the node that makes each value, the number of readers."""

    def __init__(
        self, nodes: Sequence[Node], values: Mapping[str, Value], outputs: Sequence[str]
    ) -> None:
        self.made, self.read = producers(nodes), readers(nodes, outputs)
        self.values = values


def match(found: Found, pattern: Op, node: Node) -> Match | None:
    """Return the match of `pattern` with the nodes that end at `node`; None if there is none."""
    hit = _node(found, pattern, node, Match())
    if hit is None:
        return None
    inner = [name for one in hit.nodes for name in one.inputs]
    for one in hit.nodes[1:]:
        name = one.outputs[0]
        if found.read[name] != inner.count(name):
            return None  # a node outside of the pattern reads it
    return hit


def parts(node: Node) -> tuple[str, ...]:
    """Return the names of the model's nodes that a node replaces; by default its own name."""
    return tuple(node.attributes.get("parts", (node.label,)))


def _node(found: Found, pattern: Op, node: Node, before: Match) -> Match | None:
    if node.operator != pattern.operator or len(node.inputs) < len(pattern.inputs):
        return None
    if any(node.inputs[len(pattern.inputs) :]):
        return None
    for name, value in pattern.attributes.items():
        if not math.isclose(node.attributes.get(name, math.nan), value, rel_tol=1e-4):
            return None
    if pattern.name in before.named:
        return before if before.named[pattern.name] is node else None
    hit = before.copy()
    hit.nodes.append(node)
    if pattern.name:
        hit.named[pattern.name] = node
    orders = [pattern.inputs]
    if pattern.operator in COMMUTATIVE:
        orders.append(pattern.inputs[::-1])
    for order in orders:
        result: Match | None = hit.copy()
        for one, name in zip(order, node.inputs, strict=False):
            result = _value(found, one, name, result) if result else None
        if result:
            return result
    return None


def _value(found: Found, pattern: Anything | Constant | Op, name: str, hit: Match) -> Match | None:
    if isinstance(pattern, Anything):
        if hit.values.setdefault(pattern.name, name) != name:
            return None
        return hit
    if isinstance(pattern, Constant):
        number = scalar(found.values[name].array) if name else None
        if number is None:
            return None
        if pattern.value is not None and not math.isclose(
            number, pattern.value, rel_tol=pattern.near, abs_tol=pattern.near * 1e-3
        ):
            return None
        hit.numbers[pattern.name] = number
        return hit
    node = found.made.get(name)
    return _node(found, pattern, node, hit) if node else None
