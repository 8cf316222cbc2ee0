"""Reads what RNN, GRU and LSTM have in common: directions, functions, and shapes of inputs."""

from __future__ import annotations

from collections.abc import Sequence

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.model_file import message_name

GATES = {"RNN": "h", "GRU": "zrh", "LSTM": "iofc"}  # in ONNX's order
FUNCTIONS = ("Sigmoid", "Tanh", "Relu")
_WAYS = {"forward": [False], "reverse": [True], "bidirectional": [False, True]}
_DEFAULTS = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}


def directions(node: Node) -> list[bool]:
    """Return for each direction of a recurrent node whether it reads the sequence from its end."""
    return _WAYS[node.attributes.get("direction", "forward")]


def check_size(node: Node) -> None:
    """Raise `LowerError` unless a recurrent node's attributes determine the size of its result."""
    direction = node.attributes.get("direction", "forward")
    if direction not in _WAYS:
        raise LowerError(f"direction is '{message_name(direction)}', not one of {', '.join(_WAYS)}")
    hidden = node.attributes.get("hidden_size")
    if hidden is None:
        raise LowerError("hidden_size is missing")
    if hidden < 1:
        raise LowerError(f"hidden_size is {hidden}, which is not positive")


def functions(node: Node) -> list[list[str]]:
    """Return the names of the activation functions of each direction of a recurrent node.

    Raises `LowerError` unless each of them is one of `FUNCTIONS`, and their number is right.
    """
    default, ways = _DEFAULTS[node.operator], len(directions(node))
    names = node.attributes.get("activations") or default * ways
    count = len(default)
    if len(names) != count * ways or not set(names) <= set(FUNCTIONS):
        raise LowerError(
            f"the functions {' '.join(names)} are not supported",
            f"{count} for each direction, of {', '.join(FUNCTIONS)}",
        )
    return [names[way * count : (way + 1) * count] for way in range(ways)]


def check(node: Node, shapes: Sequence[tuple[int, ...] | None]) -> None:
    """Raise `LowerError` for `clip`, `input_forget`, and shapes of inputs that ONNX does not allow.

    `shapes` has the shapes of the node's inputs, or None for an input that is left out.
    """
    attributes = node.attributes
    if "clip" in attributes:
        raise LowerError("clip is not supported")
    if attributes.get("input_forget", 0):
        raise LowerError("input_forget is not supported")
    x, _, r = shapes[:3]
    if x is None or r is None:
        raise LowerError("an input is missing")
    batch_first = bool(attributes.get("layout", 0))
    ways, batch, hidden = len(directions(node)), x[not batch_first], attributes["hidden_size"]
    rows = len(GATES[node.operator]) * hidden
    state = (batch, ways, hidden) if batch_first else (ways, batch, hidden)
    wanted = {
        "W": (ways, rows, x[-1]),
        "R": (ways, rows, hidden),
        "B": (ways, 2 * rows),
        "sequence_lens": (batch,),
        "initial_h": state,
        "initial_c": state,
        "P": (ways, 3 * hidden),
    }
    for (name, right), shape in zip(wanted.items(), shapes[1:], strict=False):
        if shape is not None and shape != right:
            raise LowerError(f"{name} has the shape {shape}, not {right}")
