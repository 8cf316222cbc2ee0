"""Fuses nodes: normalisations into convolutions, and several nodes that compute a function or a
norm.

The result has the same inputs and outputs, and values that remain keep their names. Convolutions,
products and sums may have the attribute `activation_range`, the pair (least, greatest) of a Relu or
Clip that followed them. `MatMul` may have a bias as third input. The attribute `parts` has the
names of the model's nodes that a node replaces.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.onnx.affine import fold_affine
from macaw.lowering.onnx.draft import Draft, producers, readers, renamed, scalar
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.patterns import Anything, Constant, Found, Match, Op, Pattern, match, parts

CLIPPED = (
    "Conv",
    "ConvTranspose",
    "Gemm",
    "MatMul",
    "Add",
    "Sub",
    "Sum",
)  # operators that may have an activation range
_NEAR = 1e-3  # relative error of constants that exporters round


def fuse(graph: Graph) -> Graph:
    """Return a graph of operator set 21 with fewer nodes that computes the same values.

    Values differ by rounding only. A constant of one element in `graph` may differ by a relative
    error of 1e-3 from the number that a fused function requires, because exporters round constants.
    """
    draft = Draft(graph)
    draft.nodes = _without_copies(draft)
    for _ in range(2):  # a function may be part of another one, such as HardSigmoid of HardSwish
        draft.nodes = _functions(draft)
    draft.nodes = fold_affine(draft)
    draft.nodes = _quantised_biases(draft)
    draft.nodes = _activations(draft)
    return draft.finished(_used(draft))


def _without_copies(draft: Draft) -> list[Node]:
    """Return the nodes without Identity, and without Cast that keeps the type.

    Outputs keep their names. So a copy stays if its result is an output of the graph. There is one
    exception. If an Identity is the only reader of another node's result, that node itself makes
    the output, and the Identity is left out.
    """
    names: dict[str, str] = {}
    nodes = []
    for node in draft.nodes:
        node = renamed(node, names)
        source, result = node.inputs[:1], node.outputs[0]
        same = bool(source) and node.operator in ("Identity", "Cast") and bool(source[0]) and (
            draft.values[source[0]].element == draft.values[result].element
        )  # fmt: skip
        if same and result not in draft.graph.outputs:
            names[result] = source[0]
        else:
            nodes.append(node)
    made = producers(nodes)
    read = readers(nodes, draft.graph.outputs)
    # If an Identity makes an output, the node that computes the value gets the output's name.
    final: dict[str, str] = {}
    for node in nodes:
        source_name = node.inputs[0] if node.operator == "Identity" else ""
        if source_name in made and read[source_name] == 1:
            final[source_name] = node.outputs[0]
    return [
        replace(node, outputs=tuple(final.get(name, name) for name in node.outputs))
        for node in nodes
        if node.operator != "Identity" or final.get(node.inputs[0]) != node.outputs[0]
    ]


# --- functions that are spelled out ---


@dataclass(frozen=True)
class _Rule:
    """A pattern, and a function that makes the node that replaces a match."""

    pattern: Pattern
    make: Callable[[Draft, Match], Node | None]


def _number(value: float) -> Constant:
    return Constant(value, _NEAR)


_X = Anything("x")
_CLIPPED_6 = Op("Clip", Op("Add", _X, _number(3)), _number(0), _number(6))
_ERF = Op("Add", Op("Erf", Op("Div", _X, _number(math.sqrt(2)))), _number(1))
_ERF_MUL = Op("Add", Op("Erf", Op("Mul", _X, _number(math.sqrt(0.5)))), _number(1))
_CUBE = (Op("Pow", _X, _number(3)), Op("Mul", Op("Mul", _X, _X), _X))
_TANH = [
    Op("Add", Op("Tanh", Op("Mul", Op("Add", _X, Op("Mul", cube, _number(0.044715))),
       _number(math.sqrt(2 / math.pi)))), _number(1))
    for cube in _CUBE
]  # fmt: skip
_LESS = Op("Sub", _X, Op("ReduceMean", _X, Anything("axes")), name="less")
_SQUARES = (
    Op("Pow", _LESS, _number(2)),
    Op("Mul", _LESS, _LESS),
)
_EPSILON = Constant(None, 0, "epsilon")
_NORMS = [
    Op("Div", _LESS, Op("Sqrt", Op("Add", Op("ReduceMean", square, Anything("axes2")), _EPSILON)))
    for square in _SQUARES
]


def _simple(operator: str, **attributes: float | str) -> Callable[[Draft, Match], Node]:
    """Return a function that makes a node of this operator with the match's value x as input."""

    def make(_draft: Draft, found: Match) -> Node:
        last = found.nodes[0]
        return Node(last.name, operator, (found.values["x"],), last.outputs, dict(attributes))

    return make


def _swish(_draft: Draft, found: Match) -> Node:
    last, attributes = found.nodes[0], {"alpha": found.numbers["alpha"]}
    return Node(last.name, "Swish", (found.values["x"],), last.outputs, attributes)


def _layer_norm(draft: Draft, found: Match) -> Node | None:
    """Return a LayerNormalization for a match, with scale and bias if the match has them.

    Returns None unless the match normalises over the last axes, with constant scale and bias.
    """
    rank = len(draft.values[found.values["x"]].shape)
    first, second = (draft.array(found.values[name]) for name in ("axes", "axes2"))
    if first is None or second is None:
        return None
    chosen = sorted(int(axis) % rank for axis in first.reshape(-1))
    if chosen != sorted(int(axis) % rank for axis in second.reshape(-1)):
        return None
    means = [node for node in found.nodes if node.operator == "ReduceMean"]
    if chosen != list(range(chosen[0], rank)) or not all(
        node.attributes.get("keepdims", 1) for node in means
    ):
        return None
    shape = draft.values[found.values["x"]].shape[chosen[0] :]
    last, names = found.nodes[0], []
    for place, default in (("scale", 1.0), ("bias", 0.0)):
        whole = np.full(shape, default, np.float32)
        if place in found.values:
            array = draft.array(found.values[place])
            if array is None or not _broadcasts(array.shape, shape):
                return None
            whole = np.broadcast_to(array, shape)
        names.append(draft.constant(f"{last.label}_{place}", np.ascontiguousarray(whole)))
    attributes = {"axis": chosen[0], "epsilon": found.numbers["epsilon"]}
    inputs = (found.values["x"], *names)
    return Node(last.name, "LayerNormalization", inputs, last.outputs, attributes)


def _broadcasts(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """Return whether NumPy can broadcast an array of `shape` to `whole` without new axes."""
    try:
        return np.broadcast_shapes(shape, whole) == whole
    except ValueError:
        return False


_HARD = {"alpha": 1 / 6, "beta": 0.5}
_RULES: tuple[_Rule, ...] = (
    *(_Rule(pattern, _simple("HardSwish")) for pattern in (
        Op("Div", Op("Mul", _X, _CLIPPED_6), _number(6)),
        Op("Mul", Op("Mul", _X, _CLIPPED_6), _number(1 / 6)),
        Op("Mul", _X, Op("Div", _CLIPPED_6, _number(6))),
        Op("Mul", _X, Op("Mul", _CLIPPED_6, _number(1 / 6))),
        Op("Mul", _X, Op("HardSigmoid", _X, attributes=_HARD)),
    )),
    *(_Rule(pattern, _simple("HardSigmoid", **_HARD)) for pattern in (
        Op("Div", _CLIPPED_6, _number(6)),
        Op("Mul", _CLIPPED_6, _number(1 / 6)),
    )),
    _Rule(Op("Mul", _X, Op("Sigmoid", _X)), _simple("Swish")),
    _Rule(Op("Mul", _X, Op("Sigmoid", Op("Mul", _X, Constant(None, 0, "alpha")))), _swish),
    *(
        _Rule(pattern, _simple("Gelu", approximate=kind))
        for kind, curves in (("none", (_ERF, _ERF_MUL)), ("tanh", _TANH))
        for curve in curves
        for pattern in (
            Op("Mul", Op("Mul", _X, curve), _number(0.5)),
            Op("Mul", Op("Mul", _X, _number(0.5)), curve),
            Op("Mul", _X, Op("Mul", curve, _number(0.5))),
        )
    ),
    *(
        _Rule(pattern, _layer_norm)
        for norm in _NORMS
        for scaled in [Op("Mul", norm, Anything("scale"))]
        for pattern in (Op("Add", scaled, Anything("bias")), scaled, norm)
    ),
)  # fmt: skip


def _functions(draft: Draft) -> list[Node]:
    """Return the nodes of the draft, with one node in place of each match of a pattern.

    The search goes from the last node of the graph to the first.
    """
    found = Found(draft.nodes, draft.values, draft.graph.outputs)
    dropped: set[int] = set()
    changed: dict[int, Node] = {}
    for node in reversed(draft.nodes):
        if id(node) in dropped:
            continue
        for rule in _RULES:
            hit = match(found, rule.pattern, node)
            if hit is None or any(id(part) in dropped for part in hit.nodes):
                continue
            new = rule.make(draft, hit)
            if new is None:
                continue
            changed[id(node)] = _with_parts(new, *hit.nodes)
            dropped |= {id(part) for part in hit.nodes}
            break
    nodes = [node for node in draft.nodes if id(node) in changed or id(node) not in dropped]
    return [changed.get(id(node), node) for node in nodes]


def _with_parts(node: Node, *nodes: Node) -> Node:
    """Return `node` with the attribute `parts`: the names of the model's nodes in `nodes`."""
    names = dict.fromkeys(name for one in nodes for name in parts(one))
    return replace(node, attributes={**node.attributes, "parts": tuple(names)})


# --- biases of quantised products ---


def _quantised_biases(draft: Draft) -> list[Node]:
    """Return the nodes; each constant that is added to the result of a MatMul becomes its bias.

    Both this constant and the weights of the MatMul must be dequantised.
    """
    read = readers(draft.nodes, draft.graph.outputs)
    made = producers(draft.nodes)
    dropped: set[str] = set()
    nodes: list[Node] = []
    for node in draft.nodes:
        joined = _with_bias(draft, node, made, read)
        if joined is None:
            nodes.append(node)
        else:
            product, whole = joined
            dropped.add(product.outputs[0])
            nodes.append(whole)
    return [node for node in nodes if node.outputs[0] not in dropped]


def _with_bias(
    draft: Draft, node: Node, made: Mapping[str, Node], read: Mapping[str, int]
) -> tuple[Node, Node] | None:
    """If `node` adds a bias to the result of a MatMul, return (that MatMul, its replacement).

    The replacement is a MatMul with the bias as its third input, which replaces both nodes. `made`
    has the node that computes each value, `read` the number of its readers. Otherwise return None.
    """
    if node.operator != "Add":
        return None
    for name, other in (node.inputs, node.inputs[::-1]):
        product, bias = made.get(name), made.get(other)
        if product is None or bias is None or product.operator != "MatMul" or read[name] != 1:
            continue
        weights = made.get(product.inputs[1])
        constants = [
            one is not None
            and one.operator == "DequantizeLinear"
            and draft.array(one.inputs[0]) is not None
            for one in (weights, bias)
        ]
        shape = draft.values[name].shape
        of_channels = (1,) * (len(shape) - 1) + shape[-1:]
        fits = draft.values[other].shape in (shape[-1:], of_channels)
        if all(constants) and len(product.inputs) == 2 and fits:
            inputs = (*product.inputs, other)
            whole = replace(product, inputs=inputs, outputs=node.outputs, proto=None)
            return product, _with_parts(whole, product, node)
    return None


# --- activations after layers ---


def bounds(draft: Draft, node: Node) -> tuple[float, float] | None:
    """Return the range of a Relu, or of a Clip with constant bounds; None for any other node."""
    if node.operator == "Relu":
        return 0.0, math.inf
    if node.operator != "Clip":
        return None
    limits = []
    for place, default in ((1, -math.inf), (2, math.inf)):
        name = node.inputs[place] if place < len(node.inputs) else ""
        number = scalar(draft.array(name)) if name else default
        if number is None:
            return None
        limits.append(number)
    return limits[0], limits[1]


def _activations(draft: Draft) -> list[Node]:
    """Return the nodes with each Relu and Clip moved into the layer before it.

    A Relu or Clip stays if the operator of that layer is not in `CLIPPED`, or if another node also
    reads that layer's result.
    """
    read = readers(draft.nodes, draft.graph.outputs)
    made: dict[str, int] = {}
    nodes: list[Node] = []
    for node in draft.nodes:
        limits = bounds(draft, node)
        place = made.get(node.inputs[0]) if limits and node.inputs else None
        before = nodes[place] if place is not None else None
        if limits and before is not None and place is not None and _takes(before, read):
            attributes: Mapping[str, object] = {**before.attributes, "activation_range": limits}
            joined = replace(before, outputs=node.outputs, attributes=attributes, proto=None)
            nodes[place] = _with_parts(joined, before, node)
            made[node.outputs[0]] = place
            continue
        for name in node.outputs:
            made[name] = len(nodes)
        nodes.append(node)
    return nodes


def _takes(node: Node, read: Mapping[str, int]) -> bool:
    return (
        node.operator in CLIPPED
        and "activation_range" not in node.attributes
        and read[node.outputs[0]] == 1
    )


def _used(draft: Draft) -> list[Node]:
    """Return the nodes on whose results an output of the graph depends."""
    wanted = set(draft.graph.outputs)
    nodes = []
    for node in reversed(draft.nodes):
        if wanted & set(node.outputs):
            wanted |= {name for name in node.inputs if name}
            nodes.append(node)
    return nodes[::-1]
