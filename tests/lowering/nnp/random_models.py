"""Random ONNX models for nnp: perceptrons, recurrent layers, images, attention, functions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx

from tests.lowering.onnx.models import NODE, model

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = ("Relu", "Sigmoid", "Tanh", "Neg")


@dataclass
class Draft:
    """A model while it is made: nodes, constants, and the current value with its shape."""

    random: np.random.Generator
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    inputs: dict[str, tuple[int, ...]] = field(default_factory=dict)
    value: str = ""
    shape: tuple[int, ...] = ()

    def size(self, most: int = 9) -> int:
        return int(self.random.integers(1, most + 1))

    def weights(self, *shape: int) -> str:
        name = f"w{len(self.constants)}"
        scale = max(1, int(np.prod(shape[1:]))) ** 0.5
        self.constants[name] = (self.random.normal(size=shape) / scale).astype(np.float32)
        return name

    def numbers(self, *values: int) -> str:
        name = f"n{len(self.constants)}"
        self.constants[name] = np.array(values, np.int64)
        return name

    def input(self, *shape: int) -> str:
        name = f"x{len(self.inputs)}"
        self.inputs[name] = shape
        return name

    def put(self, kind: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        name = f"v{len(self.nodes)}"
        self.nodes.append(NODE(kind, inputs, [name], f"/{kind}_{len(self.nodes)}", **attributes))
        self.value, self.shape = name, shape
        return name

    def function(self) -> None:
        """Append a function, or an operation with a constant or with the value itself."""
        kind = self.random.choice([*FUNCTIONS, "Add", "Sub", "Mul", "Max", "residual"])
        if kind == "residual":
            before = self.value
            after = self.put(str(self.random.choice(FUNCTIONS)), [before], self.shape)
            order = [before, after] if self.random.integers(2) else [after, before]
            kind = str(self.random.choice(["Add", "Sub", "Mul", "Max"]))
            self.put(kind, order, self.shape)
        elif kind in FUNCTIONS:
            self.put(str(kind), [self.value], self.shape)
        else:
            constant = self.weights(*(self.shape if self.random.integers(2) else self.shape[-1:]))
            order = [self.value, constant]
            self.put(str(kind), order if self.random.integers(2) else order[::-1], self.shape)

    def movement(self) -> None:
        """Append a node that moves numbers of the last axis, or a cast.

        Only copies of the whole value are repeated, because nnp has no other repetition.
        """
        size, axis = self.shape[-1], len(self.shape) - 1
        kind = str(self.random.choice(["Cast", "Concat", "Gather", "Slice"]))
        if kind == "Cast":
            self.put(kind, [self.value], self.shape, to=onnx.TensorProto.FLOAT)
        elif kind == "Concat":
            self.put(kind, [self.value, self.value], (*self.shape[:-1], 2 * size), axis=axis)
        elif kind == "Gather":
            picked = self.random.permutation(size)[: self.size()].tolist()
            inputs = [self.value, self.numbers(*picked)]
            self.put(kind, inputs, (*self.shape[:-1], len(picked)), axis=axis)
        else:
            first = int(self.random.integers(0, size))
            last = int(self.random.integers(first, size)) + 1
            parts = (self.numbers(number) for number in (first, last, axis))
            self.put(kind, [self.value, *parts], (*self.shape[:-1], last - first))

    def dense(self) -> None:
        outputs = self.size()
        matrix = self.weights(outputs, self.shape[-1])
        if len(self.shape) == 2 and self.random.integers(2):
            inputs = [self.value, matrix, self.weights(outputs)]
            self.put("Gemm", inputs, (self.shape[0], outputs), transB=1)
            return
        self.constants[matrix] = np.ascontiguousarray(self.constants[matrix].T)
        self.put("MatMul", [self.value, matrix], (*self.shape[:-1], outputs))

    def recurrent(self) -> None:
        """Append a recurrent layer over (time, batch, features), as PyTorch exports it."""
        kind = str(self.random.choice(list(GATES)))
        direction = str(self.random.choice(["forward", "reverse", "bidirectional"]))
        steps, items, width = self.shape
        ways, hidden = 1 + (direction == "bidirectional"), self.size(7)
        rows = GATES[kind] * hidden
        inputs = [
            self.value, self.weights(ways, rows, width), self.weights(ways, rows, hidden),
            self.weights(ways, 2 * rows) if self.random.integers(3) else "",
        ]  # fmt: skip
        start = self.random.integers(3)
        states = 1 + (kind == "LSTM")
        if start:
            shape = (ways, items, hidden)
            inputs += [
                "",
                *((self.weights if start == 1 else self.input)(*shape) for _ in range(states)),
            ]
        if kind == "LSTM" and self.random.integers(3) == 0:
            inputs += [""] * (7 - len(inputs)) + [self.weights(ways, 3 * hidden)]
        attributes = {"hidden_size": hidden, "direction": direction}
        if kind == "GRU":
            attributes["linear_before_reset"] = int(self.random.integers(2))
        while inputs and not inputs[-1]:
            inputs.pop()
        self.put(kind, inputs, (steps, ways, items, hidden), **attributes)
        self.put("Transpose", [self.value], (steps, items, ways, hidden), perm=[0, 2, 1, 3])
        shape = (steps, items, ways * hidden)
        self.put("Reshape", [self.value, self.numbers(*shape)], shape)

    def convolution(self) -> None:
        _, channels, height, width = self.shape
        kernel, strides, pads, dilations, sizes = self.windows(height, width)
        outputs = self.size(6)
        groups = self.groups(channels)
        outputs *= groups
        inputs = [
            self.value, self.weights(outputs, channels // groups, *kernel),
            *([self.weights(outputs)] if self.random.integers(2) else []),
        ]  # fmt: skip
        attributes = {"pads": pads, "strides": strides, "dilations": dilations, "group": groups}
        self.put("Conv", inputs, (1, outputs, *sizes), **attributes)

    def groups(self, channels: int) -> int:
        """The number of groups of a convolution: 1, or one for each channel."""
        return channels if self.random.integers(4) == 0 else 1

    def windows(self, *image: int) -> tuple[list[int], ...]:
        """Kernel, strides, pads, dilations and numbers of windows; a third of them are squares."""
        kernel, strides, pads, dilations = (
            self.random.integers(1, [min(3, size) + 1 for size in image]),
            self.random.integers(1, 3, 2), self.random.integers(0, 3, 4), self.random.integers(1, 3, 2),
        )  # fmt: skip
        if self.random.integers(3) == 0:
            for pairs in (kernel, strides, pads, dilations):
                pairs[:] = pairs.min()
        pads = np.minimum(pads, np.tile(kernel - 1, 2))
        room = np.array(image) + pads[:2] + pads[2:]
        dilations = np.where((kernel - 1) * dilations < room, dilations, 1)
        sizes = (room - (kernel - 1) * dilations - 1) // strides + 1
        return tuple(x.tolist() for x in (kernel, strides, pads, dilations, sizes))

    def pool(self) -> None:
        _, channels, height, width = self.shape
        kernel, strides, _, dilations, _ = self.windows(height, width)
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations, strict=True)]
        if reach[0] > height or reach[1] > width:
            dilations, reach = [1, 1], kernel
        sides = zip((height, width), reach, strides, strict=True)
        sizes = [(size - far) // stride + 1 for size, far, stride in sides]
        kind = str(self.random.choice(["MaxPool", "AveragePool"]))
        attributes = {"kernel_shape": kernel, "strides": strides, "dilations": dilations}
        self.put(kind, [self.value], (1, channels, *sizes), **attributes)

    def attention(self) -> None:
        """Append an attention over the rows of (steps, width), with one or two heads."""
        steps, width = self.shape
        heads = 2 if width % 2 == 0 and self.random.integers(2) else 1
        each = width // heads
        source, parts = self.value, []
        for number in range(3):
            self.value, self.shape = source, (steps, width)
            self.put("MatMul", [source, self.weights(width, width)], self.shape)
            if self.random.integers(2):
                self.put("Add", [self.value, self.weights(width)], self.shape)
            shape = (steps, heads, each)
            self.put("Reshape", [self.value, self.numbers(*shape)], shape)
            perm = [1, 2, 0] if number == 1 else [1, 0, 2]
            parts.append(self.put("Transpose", [self.value], (), perm=perm))
        query, key, value = parts
        self.put("MatMul", [query, key], (heads, steps, steps))
        self.constants["root"] = np.array(each**0.5, np.float32)
        self.put("Div", [self.value, "root"], self.shape)
        self.put("Softmax", [self.value], self.shape, axis=-1)
        self.put("MatMul", [self.value, value], (heads, steps, each))
        self.put("Transpose", [self.value], (steps, heads, each), perm=[1, 0, 2])
        self.put("Reshape", [self.value, self.numbers(steps, width)], (steps, width))


def random_model(random: np.random.Generator) -> onnx.ModelProto:
    """A random model of one of five kinds, with output `y`."""
    draft = Draft(random)
    kind = random.choice(["dense", "recurrent", "image", "attention"])
    if kind == "recurrent":
        draft.shape = (draft.size(5), draft.size(2), draft.size())
    elif kind == "image":
        draft.shape = (1, draft.size(6), draft.size(6), draft.size(6))
    else:
        draft.shape = (draft.size(7), draft.size(10))
    draft.value = draft.input(*draft.shape)
    for _ in range(draft.size(3)):
        if kind == "image":
            draft.pool() if random.integers(3) == 0 else draft.convolution()
        else:
            getattr(draft, str(kind))()
        for _ in range(int(random.integers(0, 3))):
            draft.function()
        if kind in ("dense", "recurrent") and random.integers(3) == 0:
            draft.movement()
        if kind == "recurrent" and random.integers(3) == 0:
            draft.dense()
        if kind == "attention":
            kind = "dense"
    if kind == "image" and random.integers(2):
        size = int(np.prod(draft.shape))
        draft.put("Flatten", [draft.value], (1, size))
        draft.dense()
    if random.integers(4) == 0 and len(draft.shape) < 4:
        draft.put("Softmax", [draft.value], draft.shape, axis=-1)
    draft.nodes[-1].output[0] = "y"
    return model(draft.nodes, draft.inputs, {"y": (draft.shape, 1)}, **draft.constants)
