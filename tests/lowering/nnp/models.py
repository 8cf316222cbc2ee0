"""Small models for nnp, with random weights: recurrent layers, attention, images, perceptrons."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tests.lowering.onnx.models import NODE, model

RANDOM = np.random.default_rng(21)


def numbers(*shape: int) -> np.ndarray:
    return (RANDOM.normal(size=shape) / max(1, shape[-1]) ** 0.5).astype(np.float32)


def outputs(**shapes: tuple[int, ...]) -> dict:
    return {name: (shape, 1) for name, shape in shapes.items()}


def recurrent(kind: str, steps: int, items: int, direction: str = "forward", **attributes):
    """A recurrent layer of 5 inputs and 6 cells, with initial states and with all outputs."""
    ways, rows = 1 + (direction == "bidirectional"), {"RNN": 6, "GRU": 18, "LSTM": 24}[kind]
    states = ["h", "c"] if kind == "LSTM" else ["h"]
    shape = (ways, items, 6)
    inputs = ["x", "W", "R", "B", "", *(f"{name}0" for name in states)]
    constants = {
        "W": numbers(ways, rows, 5),
        "R": numbers(ways, rows, 6),
        "B": numbers(ways, 2 * rows),
    }
    node = NODE(
        kind, inputs, ["y", *states], kind.lower(), hidden_size=6, direction=direction, **attributes
    )
    shapes = {"y": (steps, ways, items, 6), **dict.fromkeys(states, shape)}
    feeds = {"x": (steps, items, 5), **{f"{name}0": shape for name in states}}
    return model([node], feeds, outputs(**shapes), **constants)


def bidirectional(steps: int = 4):
    """Two bidirectional LSTM layers and a classifier, as PyTorch exports them."""
    constants: dict[str, np.ndarray] = {}
    nodes, value, width = [], "x", 5
    for k in "ab":
        constants |= {
            "W" + k: numbers(2, 24, width),
            "R" + k: numbers(2, 24, 6),
            "B" + k: numbers(2, 48),
        }
        nodes += [
            NODE("LSTM", [value, "W" + k, "R" + k, "B" + k], ["y" + k], f"/lstm/{k}", hidden_size=6, direction="bidirectional"),
            NODE("Transpose", ["y" + k], ["t" + k], perm=[0, 2, 1, 3]),
            NODE("Reshape", ["t" + k, "shape"], ["z" + k]),
        ]  # fmt: skip
        value, width = "z" + k, 12
    constants |= {
        "shape": np.array([0, 0, -1]),
        "last": np.array(-1),
        "V": numbers(3, 12),
        "v": numbers(3),
    }
    nodes += [
        NODE("Gather", [value, "last"], ["end"], axis=0),
        NODE("Gemm", ["end", "V", "v"], ["y"], "fc", transB=1),
    ]
    return model(nodes, {"x": (steps, 1, 5)}, outputs(y=(1, 3)), **constants)


def attention(steps: int, width: int, heads: int):
    constants: dict[str, np.ndarray] = {}
    each, nodes = width // heads, []
    for k in "qkv":
        constants |= {"W" + k: numbers(width, width), "b" + k: numbers(width)}
        nodes += [
            NODE("MatMul", ["x", "W" + k], [k + "0"], k),
            NODE("Add", [k + "0", "b" + k], [k + "1"], k + "_bias"),
            NODE("Reshape", [k + "1", "cut"], [k + "2"]),
            NODE("Transpose", [k + "2"], [k], perm=[1, 2, 0] if k == "k" else [1, 0, 2]),
        ]
    constants |= {
        "cut": np.array([steps, heads, each]),
        "root": np.array(each**0.5, np.float32),
        "whole": np.array([steps, width]),
    }
    nodes += [
        NODE("MatMul", ["q", "k"], ["s"], "scores"), NODE("Div", ["s", "root"], ["t"], "scale"),
        NODE("Softmax", ["t"], ["p"], "shares", axis=-1), NODE("MatMul", ["p", "v"], ["o"], "mix"),
        NODE("Transpose", ["o"], ["o1"], perm=[1, 0, 2]), NODE("Reshape", ["o1", "whole"], ["o2"]),
        NODE("MatMul", ["o2", "Wo"], ["y"], "out"),
    ]  # fmt: skip
    return model(
        nodes,
        {"x": (steps, width)},
        outputs(y=(steps, width)),
        Wo=numbers(width, width),
        **constants,
    )


def residual():
    """A model with a convolution, a sum with its input, pools, and a classifier."""
    nodes = [
        NODE("Conv", ["x", "W", "b"], ["c"], "conv", pads=[1, 1, 1, 1]),
        NODE("BatchNormalization", ["c", "g", "b", "m", "s"], ["n"], "norm"),
        NODE("Add", ["n", "x"], ["a"], "add"), NODE("Relu", ["a"], ["r"], "relu"),
        NODE("MaxPool", ["r"], ["p"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        NODE("Conv", ["p", "D"], ["d"], "depthwise", group=5, pads=[0, 1, 0, 1]),
        NODE("LeakyRelu", ["d"], ["l"], "leaky"), NODE("GlobalAveragePool", ["l"], ["q"], "mean"),
        NODE("Flatten", ["q"], ["f"]), NODE("Gemm", ["f", "V", "v"], ["y"], "fc", transB=1),
    ]  # fmt: skip
    return model(
        nodes, {"x": (1, 5, 6, 4)}, outputs(y=(1, 3)), W=numbers(5, 5, 3, 3) / 2, b=numbers(5), g=numbers(5),
        m=numbers(5), s=np.abs(numbers(5)) + 1, D=numbers(5, 1, 1, 3), V=numbers(3, 5), v=numbers(3),
    )  # fmt: skip


def perceptron(*sizes: int):
    constants: dict[str, np.ndarray] = {}
    nodes, value = [], "x"
    for at, (inputs, results) in enumerate(pairwise(sizes)):
        constants |= {f"W{at}": numbers(results, inputs), f"b{at}": numbers(results)}
        nodes.append(NODE("Gemm", [value, f"W{at}", f"b{at}"], [f"g{at}"], f"fc{at}", transB=1))
        value = f"r{at}"
        nodes.append(NODE("Relu", [f"g{at}"], [value], f"relu{at}"))
    nodes.append(NODE("Softmax", [value], ["y"], "shares", axis=-1))
    return model(nodes, {"x": (3, sizes[0])}, outputs(y=(3, sizes[-1])), **constants)


def conv1d():
    nodes = [
        NODE("Conv", ["x", "W", "b"], ["c"], "conv", pads=[1, 2], strides=[2], dilations=[3]),
        NODE("Tanh", ["c"], ["t"], "tanh"), NODE("MaxPool", ["t"], ["y"], "pool", kernel_shape=[2]),
    ]  # fmt: skip
    return model(nodes, {"x": (1, 6, 12)}, outputs(y=(1, 3, 4)), W=numbers(3, 6, 3), b=numbers(3))


MODELS = {
    "perceptron": lambda: perceptron(10, 9, 5),
    "RNN": lambda: recurrent("RNN", 4, 2, "reverse"),
    "GRU": lambda: recurrent("GRU", 4, 1),
    "GRU of PyTorch": lambda: recurrent("GRU", 3, 2, "bidirectional", linear_before_reset=1),
    "LSTM": lambda: recurrent("LSTM", 5, 1),
    "LSTM, one step": lambda: recurrent("LSTM", 1, 1),
    "two bidirectional LSTMs": bidirectional,
    "attention": lambda: attention(5, 6, 1),
    "attention of two heads": lambda: attention(6, 12, 2),
    "images": residual,
    "conv of one dimension": conv1d,
}
