"""Random ONNX models for islands: models like those for nnp, with more operators."""

from __future__ import annotations

import numpy as np
import onnx

from tests.lowering.nnp.random_models import Draft
from tests.lowering.onnx.models import model

UNARY = ("Abs", "HardSigmoid", "HardSwish", "LeakyRelu", "Neg", "Relu", "Sigmoid", "Tanh")
BINARY = ("Add", "Max", "Mean", "Min", "Mul", "Sub", "Sum")
KINDS = ("dense", "recurrent", "image", "attention", "batched")


class IslandDraft(Draft):
    """A model while it is made."""

    def limits(self) -> list[str]:
        """The names of a lower and an upper limit, two constants; one may be missing."""
        names = []
        for sign in (-1, 1):
            names.append(f"c{len(self.constants)}")
            self.constants[names[-1]] = np.array(sign * self.random.uniform(0, 1), np.float32)
        names[int(self.random.integers(2))] *= int(self.random.integers(3) > 0)
        return names

    def function(self) -> None:
        """Append a function of one or two values, or two functions whose results stay small."""
        kind = str(self.random.choice([*UNARY, *BINARY, "Clip", "Exp", "Div", "PRelu", "Pow"]))
        before = self.value
        if kind == "Exp":  # of numbers between -1 and 1
            self.put("Exp", [self.put("Tanh", [before], self.shape)], self.shape)
        elif kind == "Div":
            sigmoid = self.put("Sigmoid", [before], self.shape)
            self.put("Div", [before, sigmoid], self.shape)
        elif kind == "Pow":
            self.constants["exponent"] = np.array(2, np.float32)
            self.put("Pow", [before, "exponent"], self.shape)
        elif kind == "Clip":
            self.put("Clip", [before, *self.limits()], self.shape)
        elif kind == "PRelu":
            self.put("PRelu", [before, self.weights(self.shape[-1])], self.shape)
        elif kind in UNARY:
            self.put(kind, [before], self.shape)
        else:
            other = self.put(str(self.random.choice(UNARY)), [before], self.shape)
            if self.random.integers(2):
                other = self.weights(*self.shape[int(self.random.integers(len(self.shape))) :])
            pair = [before, other] if self.random.integers(2) else [other, before]
            self.put(kind, pair, self.shape)

    def movement(self) -> None:
        """Append a node that moves or repeats numbers, or joins them with constants."""
        size, axis = self.shape[-1], len(self.shape) - 1
        kind = str(self.random.choice(["Concat", "Expand", "Gather", "Pad", "other"]))
        if kind == "Concat":
            inputs = [self.value, self.weights(*self.shape)]
            order = inputs if self.random.integers(2) else inputs[::-1]
            self.put(kind, order, (*self.shape[:-1], 2 * size), axis=axis)
        elif kind == "Expand":
            shape = (2, *self.shape[1:]) if self.shape[0] == 1 else self.shape
            self.put(kind, [self.value, self.numbers(*shape)], shape)
        elif kind == "Gather":
            picked = [int(n) for n in self.random.integers(0, size, self.size())]
            inputs = [self.value, self.numbers(*picked)]
            self.put(kind, inputs, (*self.shape[:-1], len(picked)), axis=axis)
        elif kind == "Pad":
            before, after = (int(n) for n in self.random.integers(0, 3, 2))
            pads = self.numbers(*[0] * axis, before, *[0] * axis, after)
            self.put(kind, [self.value, pads], (*self.shape[:-1], before + size + after))
        else:
            super().movement()

    def norm(self) -> None:
        """Append a norm or softmax over the last axis, or a reduction that keeps the axis."""
        width, axis = self.shape[-1], len(self.shape) - 1
        kind = str(self.random.choice(["LayerNormalization", "Softmax", "ReduceMax", "ReduceMean"]))
        if kind == "LayerNormalization":
            self.put(kind, [self.value, self.weights(width), self.weights(width)], self.shape)
        elif kind == "Softmax":
            self.put(kind, [self.value], self.shape, axis=int(self.random.integers(axis + 1)))
        else:
            over = int(self.random.integers(axis + 1))
            shape = (*self.shape[:over], 1, *self.shape[over + 1 :])
            before, whole = self.value, self.shape
            reduced = self.put(kind, [before, self.numbers(over)], shape, keepdims=1)
            self.put("Sub", [before, reduced], whole)

    def pool(self) -> None:
        """Append a pool, which may have padding, or an LRN or BatchNormalization."""
        kind = str(self.random.choice(["MaxPool", "AveragePool", "LRN", "BatchNormalization"]))
        _, channels, height, width = self.shape
        if kind == "LRN":
            size = 1 + 2 * int(self.random.integers(3))
            self.put(kind, [self.value], self.shape, size=size, alpha=0.5)
            return
        if kind == "BatchNormalization":
            names = [self.weights(channels) for _ in range(4)]
            self.constants[names[3]] = np.abs(self.constants[names[3]]) + np.float32(0.5)
            self.put(kind, [self.value, *names], self.shape)
            return
        kernel = int(self.random.integers(1, min(3, height, width) + 1))
        stride, pad = int(self.random.integers(1, 3)), int(self.random.integers(kernel // 2 + 1))
        sizes = [(size + 2 * pad - kernel) // stride + 1 for size in (height, width)]
        attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pad] * 4}
        counted = {"count_include_pad": 1} if kind == "AveragePool" else {}
        self.put(kind, [self.value], (1, channels, *sizes), **attributes, **counted)

    def groups(self, channels: int) -> int:
        """The number of groups of a convolution: often 2 to 4, if these divide the channels."""
        some = [count for count in (2, 3, 4) if channels % count == 0]
        if some and self.random.integers(2):
            return int(self.random.choice(some))
        return super().groups(channels)

    def image(self) -> None:
        self.pool() if self.random.integers(2) else self.convolution()

    def batched(self) -> None:
        """Append a product with a stack of constant matrices, one for each item of axis 0."""
        count, _, depth = self.shape
        columns = self.size()
        self.put(
            "MatMul", [self.value, self.weights(count, depth, columns)], (*self.shape[:2], columns)
        )


def random_model(random: np.random.Generator) -> onnx.ModelProto:
    """A random model of one of five kinds, with output `y`."""
    draft = IslandDraft(random)
    kind = str(random.choice(KINDS))
    shapes = {
        "recurrent": (draft.size(4), draft.size(2), draft.size()),
        "batched": (draft.size(3), draft.size(5), draft.size()),
        "image": (1, draft.size(6), draft.size(6), draft.size(6)),
    }
    draft.shape = shapes.get(kind, (draft.size(7), draft.size(10)))
    if kind == "image":  # more channels, so that more convolutions have groups
        draft.shape = (1, draft.shape[1] * draft.size(3), *draft.shape[2:])
    draft.value = draft.input(*draft.shape)
    for _ in range(draft.size(2)):
        getattr(draft, kind)()
        kind = "dense" if kind == "attention" else kind
        for _ in range(int(random.integers(0, 3))):
            draft.function()
        if random.integers(3) == 0:
            draft.norm()
        if random.integers(3) == 0 and kind != "image":
            draft.movement()
    draft.nodes[-1].output[0] = "y"
    return model(draft.nodes, draft.inputs, {"y": (draft.shape, 1)}, **draft.constants)
