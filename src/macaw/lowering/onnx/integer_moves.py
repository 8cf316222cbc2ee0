"""Moves of quantised integers between DequantizeLinear and QuantizeLinear nodes.

Models with QLinear operators also move the integers themselves, for example by a MaxPool of int8
between two QLinearConv nodes. Such a node gets a DequantizeLinear before it and a QuantizeLinear
after it, with the same scale and zero point, so that it has the same result.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np
from onnx import TensorProto, helper

from macaw.lowering.onnx.draft import Draft
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.integer_layers import KEEPING, interpolates

_INTEGERS = (TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16, TensorProto.UINT16)
_MOVES = (*(name for name in KEEPING if name != "Identity"), "Concat")
Factors = tuple[str, str]  # names of a scale and of a zero point, "" for no zero point


def with_real_moves(graph: Graph) -> Graph:
    """Return the graph with moves of real numbers in place of moves of quantised integers.

    Moves of other integers stay: those of values that no node quantises or dequantises.
    """
    draft = Draft(graph)
    factors = _factors(draft)
    if not factors:
        return graph
    nodes: list[Node] = []
    for node in draft.nodes:
        known = factors.get(node.outputs[0]) if _moves_integers(draft, node) else None
        nodes += [node] if known is None else _surrounded(draft, node, known)
    return draft.finished(nodes)


def _moves_integers(draft: Draft, node: Node) -> bool:
    """Return whether a node moves or selects integers, and computes no new ones."""
    if node.operator not in _MOVES or interpolates(node) or any(node.outputs[1:]):
        return False
    values = [draft.values[name] for name in (*_data(node), node.outputs[0])]
    knows = not _fill(node) or draft.array(_fill(node)) is not None
    return knows and all(value.element in _INTEGERS for value in values)


def _data(node: Node) -> tuple[str, ...]:
    return node.inputs if node.operator == "Concat" else node.inputs[:1]


def _factors(draft: Draft) -> dict[str, Factors]:
    """Return scale and zero point of the integers that nodes move, by name of the value.

    They are those of a DequantizeLinear that reads the value or what moves make of it, or else
    those of a QuantizeLinear that makes the value or that of which moves make it.
    """
    moves = [node for node in draft.nodes if _moves_integers(draft, node)]
    if not moves:
        return {}
    made = dict(_of_nodes(draft, "QuantizeLinear"))
    for node in moves:
        _share(made, _data(node), node.outputs[:1])
    read = dict(_of_nodes(draft, "DequantizeLinear"))
    for node in reversed(moves):
        _share(read, node.outputs[:1], _data(node))
    for node in moves:  # values that one of several readers dequantises
        _share(read, _data(node), node.outputs[:1])
    return made | read


def _of_nodes(draft: Draft, operator: str) -> Iterator[tuple[str, Factors]]:
    """Yield for each QuantizeLinear or DequantizeLinear the name of its integers, and its factors.

    Nodes with several scales, or with factors that are no constants, are left out.
    """
    for node in draft.nodes:
        if node.operator == operator:
            scale, zero = (*node.inputs, "")[1:3]
            arrays = [draft.array(name) for name in (scale, zero) if name]
            if all(array is not None and array.size == 1 for array in arrays):
                makes = operator == "QuantizeLinear"
                yield node.outputs[0] if makes else node.inputs[0], (scale, zero)


def _share(known: dict[str, Factors], sources: Iterable[str], others: Iterable[str]) -> None:
    found = next((known[name] for name in sources if name in known), None)
    if found is not None:
        for name in others:
            known.setdefault(name, found)


def _surrounded(draft: Draft, node: Node, factors: Factors) -> list[Node]:
    """Return a DequantizeLinear for each input of a move, the move, and a QuantizeLinear."""
    scale, zero = factors
    value = draft.values[node.outputs[0]]
    if not zero or _adds(node):
        # The zero point is the integer with which a Pad fills; dequantised, this integer is 0.
        fill = draft.array(_fill(node))
        number = np.zeros(1) if fill is None else fill
        kind = helper.tensor_dtype_to_np_dtype(value.element)
        zero = draft.constant(f"{node.label}_zero", number.reshape(()).astype(kind))
    nodes, real = [], dict[str, str]()
    for name in dict.fromkeys(_data(node)):
        real[name] = draft.value(f"{name}_moved", draft.values[name].shape, TensorProto.FLOAT)
        label = f"{node.label}_{real[name]}"
        nodes.append(Node(label, "DequantizeLinear", (name, scale, zero), (real[name],)))
    inputs = tuple(real.get(name, name) for name in _data(node)) + node.inputs[len(_data(node)) :]
    if _adds(node):
        inputs = (*inputs[:2], "", *inputs[3:])
    result = draft.value(f"{node.outputs[0]}_real", value.shape, TensorProto.FLOAT)
    moved = replace(node, inputs=inputs, outputs=(result,), proto=None)
    inputs, label = (result, scale, zero), f"{node.label}_quantized"
    return [*nodes, moved, Node(label, "QuantizeLinear", inputs, node.outputs[:1])]


def _adds(node: Node) -> bool:
    return node.operator == "Pad" and node.attributes.get("mode", "constant") == "constant"


def _fill(node: Node) -> str:
    """Return the name of the number that a Pad adds; "" for 0 and for other nodes."""
    return (*node.inputs, "", "")[2] if _adds(node) else ""
