"""Small quantised ONNX models for tests of `macaw compile`."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class ModelBuilder:
    """Adds quantised layers (QDQ form, int8, scales of powers of two) one after the other."""

    def __init__(self, seed: int, shape: tuple[int, ...], scale: float = 2.0**-5) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.shape, self.scale, self.value = shape, scale, "x"
        self.inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(shape))]
        self.quantise("in", scale)

    def constant(self, name: str, array: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, operator: str, inputs: list[str], output: str, **attributes: Any) -> str:
        name = f"/{output}/{operator}"
        self.nodes.append(helper.make_node(operator, inputs, [output], name, **attributes))
        return output

    def quantise(self, name: str, scale: float) -> None:
        """Quantise the last value and dequantise it again."""
        factors = [
            self.constant(f"{name}_s", np.float32(scale)),
            self.constant(f"{name}_z", np.int8(0)),
        ]
        integers = self.node("QuantizeLinear", [self.value, *factors], f"{name}_q")
        self.value = self.node("DequantizeLinear", [integers, *factors], f"{name}_dq")
        self.scale = scale

    def weights(self, name: str, shape: tuple[int, ...], scale: float, each: bool = False) -> str:
        """The name of constant weights; with `each`, each output has its own scale."""
        numbers = self.rng.integers(-8, 9, shape).astype(np.int8)
        factors = self.rng.uniform(0.5, 2, shape[0]) if each else np.ones(())
        scales = (scale * factors).astype(np.float32)
        inputs = [self.constant(f"{name}_w", numbers), self.constant(f"{name}_ws", scales)]
        return self.node("DequantizeLinear", inputs, f"{name}_wdq", axis=0)

    def bias(self, name: str, outputs: int, scale: float) -> str:
        numbers = self.rng.integers(-100, 101, outputs) * np.float32(self.scale * scale)
        return self.constant(f"{name}_b", numbers.astype(np.float32))

    def conv(
        self, name: str, outputs: int, kernel: int, *, stride: int = 1, padding: int = 0,
        pads: tuple[int, ...] = (), dilation: int = 1, group: int = 1, relu: bool = True,
        scale: float = 2.0**-6, each: bool = False, result: float = 2.0**-4,
    ) -> None:  # fmt: skip
        """Add a convolution; `pads` are (top, left, bottom, right) instead of `padding`."""
        channels, height, width = self.shape[1:]
        weights = self.weights(name, (outputs, channels // group, kernel, kernel), scale, each)
        inputs = [self.value, weights, self.bias(name, outputs, scale)]
        sides = pads or (padding,) * 4
        self.value = self.node(
            "Conv", inputs, name, strides=[stride] * 2, pads=sides, group=group,
            dilations=[dilation] * 2,
        )  # fmt: skip
        if relu:
            self.value = self.node("Relu", [self.value], f"{name}_relu")
        self.quantise(name, result)
        reach = (kernel - 1) * dilation + 1
        sizes = (
            (size + sides[axis] + sides[axis + 2] - reach) // stride + 1
            for axis, size in enumerate((height, width))
        )
        self.shape = (self.shape[0], outputs, *sizes)

    def function(self, name: str, operator: str, result: float, *limits: float) -> None:
        """Add a function of single elements; `limits` are those of Clip."""
        bounds = [
            self.constant(f"{name}_{place}", np.float32(limit))
            for place, limit in enumerate(limits)
        ]
        self.value = self.node(operator, [self.value, *bounds], name)
        self.quantise(name, result)

    def join(self, name: str, other: str, channels: int, result: float) -> None:
        """Append the `channels` channels of another quantised value to the last value."""
        self.value = self.node("Concat", [self.value, other], name, axis=1)
        self.quantise(name, result)
        self.shape = (self.shape[0], self.shape[1] + channels, *self.shape[2:])

    def add(self, name: str, other: str, *, relu: bool = False, result: float = 2.0**-4) -> None:
        """Add an earlier `value` of the builder, of the same shape, to the last value."""
        self.value = self.node("Add", [self.value, other], name)
        if relu:
            self.value = self.node("Relu", [self.value], f"{name}_relu")
        self.quantise(name, result)

    def multiply(self, name: str, other: str, result: float = 2.0**-5) -> None:
        """Multiply the last value by another quantised value, `other`.

        `other` has the shape of the last value, or one number for each channel.
        """
        self.value = self.node("Mul", [self.value, other], name)
        self.quantise(name, result)

    def pool(
        self, name: str, operator: str, kernel: int, stride: int = 1, **attributes: Any
    ) -> None:
        """Add a pool; a mean gets a new scale."""
        sides = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, **attributes}
        self.value = self.node(operator, [self.value], name, **sides)
        self.quantise(name, self.scale if operator == "MaxPool" else self.scale / 2)
        pads = attributes.get("pads", [0] * 4)
        sizes = (
            (size + pads[axis] + pads[axis + 2] - kernel) // stride + 1
            for axis, size in enumerate(self.shape[2:])
        )
        self.shape = (*self.shape[:2], *sizes)

    def average(self, name: str) -> None:
        self.value = self.node("GlobalAveragePool", [self.value], name)
        self.quantise(name, self.scale / 2)
        self.shape = (*self.shape[:2], 1, 1)

    def flatten(self) -> None:
        self.value = self.node("Flatten", [self.value], "flat")
        self.shape = (self.shape[0], int(np.prod(self.shape[1:])))

    def gemm(self, name: str, outputs: int, scale: float = 2.0**-6) -> None:
        weights = self.weights(name, (outputs, self.shape[1]), scale)
        self.value = self.node("Gemm", [self.value, weights], name, transB=1)
        self.shape = (self.shape[0], outputs)

    def model(self) -> onnx.ModelProto:
        """The model, whose output `y` is the last value."""
        self.nodes[-1].output[0] = "y"
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, list(self.shape))
        graph = helper.make_graph(self.nodes, "small", self.inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
        onnx.checker.check_model(model)
        return model


def residual_model(seed: int = 0, batch: int = 1) -> onnx.ModelProto:
    """A residual block whose branches have different scales, a product of two images, and pools."""
    builder = ModelBuilder(seed, (batch, 3, 8, 8))
    builder.conv("stem", 8, 3, padding=1)
    stem = builder.value
    builder.conv("left", 8, 3, padding=1, relu=False, result=2.0**-3)
    builder.add("sum", stem, relu=True, result=0.0625)
    builder.multiply("gate", stem)
    builder.pool("max", "MaxPool", 3, 2, pads=[1, 1, 0, 0])
    builder.pool("mean", "AveragePool", 2, pads=[0, 0, 1, 1])
    builder.conv("last", 5, 1)
    builder.average("all")
    builder.flatten()
    builder.gemm("classes", 3)
    return builder.model()


def real_model(seed: int = 0, batch: int = 1) -> onnx.ModelProto:
    """A model with scales that are no powers of two, also by channel, and with many operators."""
    builder = ModelBuilder(seed, (batch, 4, 9, 9), 0.031)
    builder.conv("stem", 8, 3, pads=(1, 0, 2, 1), scale=0.013, each=True, result=0.057)
    stem = builder.value
    builder.conv("wide", 8, 3, dilation=2, pads=(2, 2, 2, 2), each=True, relu=False, result=0.043)
    builder.function("swish", "HardSwish", 0.039)
    builder.join("both", stem, 8, 0.06)
    builder.conv("groups", 12, 3, group=4, each=True, scale=0.02, relu=False, result=0.05)
    builder.nodes[-2:] = []
    builder.value = "groups"
    builder.function("six", "Clip", 0.09, 0.0, 0.4)
    builder.average("mean")
    builder.flatten()
    builder.gemm("classes", 5, scale=0.011)
    return builder.model()


def small_model(seed: int = 0, batch: int = 1) -> onnx.ModelProto:
    """A model of two convolutions, a depthwise one, and a product of the flattened image."""
    builder = ModelBuilder(seed, (batch, 3, 8, 8))
    builder.conv("stem", 8, 3, stride=2, padding=1)
    builder.conv("depth", 8, 3, padding=1, group=8, relu=False)
    builder.conv("point", 12, 1, result=2.0**-3)
    builder.flatten()
    builder.gemm("classes", 10)
    return builder.model()


def float_model() -> onnx.ModelProto:
    """A residual network of real numbers, whose input x has shape (batch, 2, rows, 9)."""
    rng = np.random.default_rng(11)
    weights = {
        f"w{place}": numpy_helper.from_array(
            rng.normal(size=(2, 2, 3, 3)).astype(np.float32), f"w{place}"
        )
        for place in (1, 2)
    }
    attributes: Any = {"pads": [1, 1, 1, 1]}
    nodes = [
        helper.make_node("Conv", ["x", "w1"], ["a"], "/a/Conv", **attributes),
        helper.make_node("Relu", ["a"], ["b"], "/b/Relu"),
        helper.make_node("Conv", ["b", "w2"], ["c"], "/c/Conv", **attributes),
        helper.make_node("Add", ["b", "c"], ["y"], "/y/Add"),
    ]
    image = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 2, "rows", 9])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "float", [image], [result], list(weights.values()))
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    made.ir_version = 10
    return made
