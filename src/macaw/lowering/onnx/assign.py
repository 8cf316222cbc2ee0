"""Decides which nodes of a float graph are computed on integers, and of which type."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field
from difflib import get_close_matches

from macaw.isa.lazy_dataclass import dataclass
from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.draft import producers
from macaw.lowering.onnx.graph import Graph, Node
from macaw.lowering.onnx.integer_layers import adds_numbers
from macaw.lowering.onnx.model_file import message_name
from macaw.lowering.onnx.operators.table import check_operator
from macaw.lowering.onnx.patterns import parts
from macaw.lowering.onnx.read import node_error
from macaw.lowering.onnx.values import by_channel, element_name
from macaw.lowering.onnx.views import UNARY, unary_input

FLOAT, TYPES = "float", ("int8", "int16")
WEIGHTED = ("Conv", "ConvTranspose", "Gemm", "MatMul")
JOINED = ("Add", "Sub", "Sum", "Mul", "Concat")  # operators on several tensors
POOLS = ("MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "ReduceMean")
MOVED = (
    "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Expand", "Tile",
    "DepthToSpace", "SpaceToDepth", "Resize", "Pad", "Gather", "GatherElements",
)  # fmt: skip
# operators that do not change the integers
SAME_SCALE = (*(name for name in MOVED), "MaxPool", "GlobalMaxPool")
# Functions that lose little precision in a table. Others become a table only if the user asks for
# it.
SMOOTH = (
    "Relu", "Clip", "LeakyRelu", "HardSwish", "HardSigmoid", "Sigmoid", "Tanh", "Swish", "Mish",
    "Add", "Sub", "Mul", "Div", "Neg", "Abs",
)  # fmt: skip


@dataclass(frozen=True)
class Types:
    """The types of layers that the user wants.

    `default` is the type of all layers; `layers` has other types by the name of a node.
    `keep_float` has the names of nodes or operators that stay floating-point.
    """

    default: str = "int8"
    layers: Mapping[str, str] = field(default_factory=dict)
    keep_float: Collection[str] = ()


@dataclass(frozen=True)
class Assignment:
    """The nodes that are computed on integers, with their types.

    `types` has the integer type of a node by `Node.key`. If one table computes two functions, one
    after the other, `chained` has the name of the value between them: it is not quantised.
    """

    types: Mapping[str, str]
    chained: frozenset[str]


def assign(graph: Graph, types: Types) -> Assignment:
    """Return the type of each node that is computed on integers.

    A node without a rule for integers stays floating-point. Of the other nodes, layers with weights
    are computed on integers. So is a node that loses little precision in integers, if all its
    inputs are results of nodes on integers. So is a node that only moves numbers or chooses the
    largest one, if all readers of its result are computed on integers. A type that the user wants
    for a node has priority. Raises `LowerError` for names that the graph does not have, and for
    nodes that cannot have the type that the user wants.
    """
    wanted = _by_key(graph, types)
    chosen: dict[str, str] = {}
    made = producers(graph.nodes)
    for node in graph.nodes:
        try:
            check_operator(node)
        except LowerError as error:
            raise node_error(node.label, node.operator, error) from None
        kind = wanted.get(node.key)
        if kind == FLOAT or (kind is None and node.operator in types.keep_float):
            continue
        able = _able(graph, node)
        if kind is None:
            inputs = [made[name].key for name in data_inputs(graph, node) if name in made]
            count = len(data_inputs(graph, node))
            ready = len(inputs) == count and all(key in chosen for key in inputs)
            usual = has_weights(graph, node) or (ready and not _is_rough(node))
            if able and usual:
                chosen[node.key] = types.default
        elif not able:
            reason = LowerError("it has no rule for integers", "float")
            raise node_error(node.label, node.operator, reason)
        else:
            chosen[node.key] = kind
    _add_moves(graph, types, wanted, chosen)
    return Assignment(chosen, _chained(graph, chosen))


def _add_moves(
    graph: Graph, types: Types, wanted: Mapping[str, str], chosen: dict[str, str]
) -> None:
    """Add to `chosen` nodes that move or select numbers only for nodes in `chosen`.

    These are nodes such as MaxPool and Reshape, all readers of whose results are in `chosen`. The
    inputs of such a node are then quantised instead of its result. Nodes in `wanted`, for which the
    user wants a type, are left out.
    """
    readers: dict[str, list[str]] = {}
    for node in graph.nodes:
        for name in node.inputs:
            readers.setdefault(name, []).append(node.key)
    for node in reversed(graph.nodes):
        result = node.outputs[0]
        if node.operator not in SAME_SCALE or node.key in chosen or node.key in wanted:
            continue
        if node.operator in types.keep_float or result in graph.outputs:
            continue
        keys = readers.get(result, [])
        if keys and all(key in chosen for key in keys) and _able(graph, node):
            chosen[node.key] = max((chosen[key] for key in keys), key=TYPES.index)


def data_inputs(graph: Graph, node: Node) -> list[str]:
    """Return the names of those inputs of a node that are not constants, each once."""
    names = [name for name in dict.fromkeys(node.inputs) if name]
    return [name for name in names if graph.constant(name) is None]


def has_weights(graph: Graph, node: Node) -> bool:
    """Return whether a node multiplies a tensor by constant weights."""
    if node.operator not in WEIGHTED or len(node.inputs) < 2:
        return False
    w = graph.constant(node.inputs[1])
    bias = node.inputs[2] if len(node.inputs) > 2 else ""
    if (
        w is None
        or graph.constant(node.inputs[0]) is not None
        or (bias and graph.constant(bias) is None)
    ):
        return False
    attributes = node.attributes
    if attributes.get("transA", 0) or any(attributes.get(x, 1.0) != 1 for x in ("alpha", "beta")):
        return False
    if w.ndim != 2 if node.operator in ("Gemm", "MatMul") else w.ndim < 3:
        return False
    channels = graph.values[node.outputs[0]].shape[1 if "Conv" in node.operator else -1]
    array = graph.constant(bias)
    return array is None or by_channel(array, channels) is not None


def is_function(graph: Graph, node: Node) -> bool:
    """Return whether a node is a function of each element of one value."""
    arrays = {name: graph.constant(name) for name in node.inputs if name}
    name = unary_input(node, arrays)
    return bool(name) and graph.values[name].shape == graph.values[node.outputs[0]].shape


def _able(graph: Graph, node: Node) -> bool:
    """Return whether there is a rule on integers for a node."""
    values = [graph.values[name] for name in (*data_inputs(graph, node), *node.outputs) if name]
    floats = all(element_name(value.element) == "float" for value in values)
    if not floats or len(node.outputs) != 1:
        return False
    kind = node.operator
    if kind in WEIGHTED and has_weights(graph, node):
        return True
    if kind in UNARY and is_function(graph, node):
        return True
    every = len(data_inputs(graph, node)) == len([name for name in node.inputs if name])
    if kind in JOINED:
        return bool(data_inputs(graph, node))
    if kind == "MatMul":
        return every and len(node.inputs) == 2
    if kind == "Resize":
        return bool(node.attributes.get("mode", "nearest") == "nearest")
    if kind == "ReduceMean":
        return len(graph.values[node.inputs[0]].shape) == 4 and all(
            graph.constant(name) is not None for name in node.inputs[1:] if name
        )
    if kind in POOLS:
        return True
    if kind == "Pad" and adds_numbers(node, [graph.constant(name) for name in node.inputs]):
        return False
    return kind in MOVED and data_inputs(graph, node) == [node.inputs[0]]


def _is_rough(node: Node) -> bool:
    """Return whether a node is imprecise in integers; such a node stays float by default."""
    if node.operator == "MatMul":
        return True  # a product of two tensors, as in attention
    return node.operator in UNARY and node.operator not in (*SMOOTH, *JOINED)


def _by_key(graph: Graph, types: Types) -> dict[str, str]:
    """Return the type that the user wants for a node, by `Node.key`: int8, int16 or float.

    Raises `LowerError` for a layer or operator that the graph does not have, and for an unknown
    type.
    """
    names: dict[str, list[str]] = {}
    for node in graph.nodes:
        for name in dict.fromkeys((*parts(node), node.label, *node.outputs)):
            names.setdefault(name, []).append(node.key)
    operators = {node.operator for node in graph.nodes}
    wanted: dict[str, str] = {}
    floats = dict.fromkeys((name for name in types.keep_float if name in names), FLOAT)
    for name in types.keep_float:
        if name not in names and name not in operators:
            raise _unknown(name, [*names, *operators], "no layer and no operator")
    for name, kind in {**types.layers, **floats}.items():
        if name not in names:
            raise _unknown(name, names, "no layer")
        if kind not in (*TYPES, FLOAT):
            raise LowerError(
                f"the layer {message_name(name)}: no type '{message_name(kind)}'",
                "there are int8, int16, float",
            )
        wanted |= dict.fromkeys(names[name], kind)
    return wanted


def _unknown(name: str, names: Collection[str], what: str) -> LowerError:
    near = get_close_matches(name, list(names), n=1, cutoff=0.6)
    hint = f"did you mean '{message_name(near[0])}'?" if near else ""
    return LowerError(f"{what} is called '{message_name(name)}'", hint)


def _chained(graph: Graph, chosen: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the values that one function computes and only another function reads.

    Both functions have the same integer type in `chosen`. One table then computes both.
    """
    made = producers(graph.nodes)
    read: dict[str, int] = {}
    for node in graph.nodes:
        for name in dict.fromkeys(node.inputs):
            read[name] = read.get(name, 0) + 1
    between = set()
    for node in graph.nodes:
        if node.key not in chosen or not is_function(graph, node) or node.operator in WEIGHTED:
            continue
        (name,) = data_inputs(graph, node)
        before = made.get(name)
        if (
            before is not None
            and chosen.get(before.key) == chosen[node.key]
            and is_function(graph, before)
            and read[name] == 1
            and name not in graph.outputs
        ):
            between.add(name)
    return frozenset(between)
