"""Random small quantised networks, and devices to compile them for.

Networks have residual sums, concatenated branches, strides, odd sizes and moved elements. They have
all quantisations: int8, uint8 and int16; scales that are powers of two or not, also by channel;
zero points. Some networks have layers of int8 and of int16.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from macaw.isa.config import Configuration, load
from tests.lowering.net.models import ModelBuilder

NUMBERS: dict[str, Any] = {"int8": np.int8, "uint8": np.uint8, "int16": np.int16}


@dataclass(frozen=True)
class Style:
    """How a network is quantised; `asymmetric` ones have zero points other than 0."""

    dtype: str
    powers: bool
    each: bool
    asymmetric: bool

    @classmethod
    def random(cls, rng: np.random.Generator) -> Style:
        """Return a random style; half of the styles are int8 without zero points."""
        dtype = str(rng.choice(["int8"] * 4 + ["uint8"] * 2 + ["int16"]))
        asymmetric = dtype == "uint8" or (dtype == "int8" and rng.random() < 0.3)
        return cls(dtype, bool(rng.integers(2)), bool(rng.integers(2)), asymmetric)


def mixes(seed: int) -> bool:
    """Return whether half of the network's tensors are int16, whatever its style."""
    return bool(np.random.default_rng(seed + 4).random() < 0.15)


def joins(seed: int) -> bool:
    """Return whether the network has branches that only one Concat reads, without a new scale."""
    return bool(np.random.default_rng(seed + 5).random() < 0.12)


class RandomBuilder(ModelBuilder):
    """Adds random layers; each value that layers can branch from is in `known`."""

    def __init__(self, seed: int) -> None:
        self.style = Style.random(np.random.default_rng(seed))
        self.mixed = np.random.default_rng(seed + 3) if mixes(seed) else None
        self.random = np.random.default_rng(seed + 1)
        self.branches = joins(seed)
        self.number = 0
        self.known: list[tuple[str, tuple[int, ...], float]] = []
        shape = (1, self.pick(1, 3, 4, 8, 12), self.pick(5, 7, 8, 9, 13), self.pick(4, 6, 9, 11))
        super().__init__(seed, shape, self.factor(-5))

    def pick(self, *choices: Any) -> Any:
        """Return one of some choices."""
        return choices[int(self.random.integers(len(choices)))]

    def factor(self, exponent: int) -> float:
        """Return a power of two, or a scale near it."""
        noise = 1.0 if self.style.powers else self.random.uniform(0.6, 1.7)
        return float(np.float32(2.0**exponent * noise))

    def quantise(self, name: str, scale: float) -> None:
        """Quantise the last value in the network's style; its new value is `value`."""
        kind = self.style.dtype
        if self.mixed is not None and self.mixed.integers(2):
            kind = "int16"
        dtype, zero = NUMBERS[kind], 0
        if self.style.asymmetric and kind == self.style.dtype:
            info = np.iinfo(dtype)
            zero = int(self.pick(info.min, 0, 3, -4, 128, 117))
            zero = min(max(zero, info.min), info.max)
        if kind == "int16":
            scale = float(np.float32(scale / 64))
        factors = [
            self.constant(f"{name}_s", np.float32(scale)),
            self.constant(f"{name}_z", dtype(zero)),
        ]
        integers = self.node("QuantizeLinear", [self.value, *factors], f"{name}_q")
        self.value = self.node("DequantizeLinear", [integers, *factors], f"{name}_dq")
        self.scale = scale

    def name(self, kind: str) -> str:
        """Return a new name."""
        self.number += 1
        return f"{kind}{self.number}"

    def remember(self) -> None:
        """Let later layers branch from the last value."""
        self.known.append((self.value, self.shape, self.scale))

    def new_scale(self) -> float:
        return self.factor(int(self.random.integers(-5, -2)))

    # --- layers ---

    def add_conv(self) -> None:
        kernel = min(self.pick(1, 1, 2, 3, 3, 5), *self.shape[2:])
        channels = self.shape[1]
        group = self.pick(1, 1, channels, 2 if channels % 2 == 0 else 1)
        outputs = channels if group == channels else self.pick(2, 4, 6, 8, 10, 16) // group * group
        pads = tuple(int(n) for n in self.random.integers(0, (kernel + 1) // 2 + 1, 4))
        pads = tuple(min(n, kernel - 1) for n in pads)
        self.conv(
            self.name("conv"), outputs, kernel, stride=self.pick(1, 1, 2, 3), pads=pads,
            group=group, relu=bool(self.random.integers(2)), scale=self.factor(-6),
            each=self.style.each, result=self.new_scale(),
        )  # fmt: skip

    def add_sum(self) -> None:
        others = [item for item in self.known if item[1] == self.shape and item[0] != self.value]
        if not others:
            return self.add_function()
        other = others[int(self.random.integers(len(others)))][0]
        operator = self.pick("Add", "Add", "Sub", "Mul")
        name = self.name(operator.lower())
        self.value = self.node(operator, [self.value, other], name)
        if operator != "Mul" and self.random.random() < 0.4:
            self.value = self.node("Relu", [self.value], f"{name}_relu")
        return self.quantise(name, self.new_scale())

    def add_concat(self) -> None:
        others = [item for item in self.known if item[1][2:] == self.shape[2:]]
        if not others or self.shape[1] > 24:
            return self.add_conv()
        other = others[int(self.random.integers(len(others)))]
        return self.join(self.name("join"), other[0], other[1][1], self.new_scale())

    def add_branches(self) -> None:
        """Add convolutions of one value whose results are concatenated without another scale."""
        start, ends, result = (self.value, self.shape, self.scale), [], self.new_scale()
        stride = self.pick(1, 1, 2)
        for kernel in (1, 3, 1)[: self.pick(2, 2, 3)]:
            self.value, self.shape, self.scale = start
            channels = self.pick(2, 5, 8, 11)
            self.conv(
                self.name("branch"), channels, kernel, stride=stride, padding=kernel // 2,
                relu=bool(self.random.integers(2)), scale=self.factor(-6), each=self.style.each,
                result=result,
            )  # fmt: skip
            ends.append((self.value, channels))
        name = self.name("joined")
        self.value = self.node("Concat", [value for value, _ in ends], name, axis=1)
        self.shape = (1, sum(channels for _, channels in ends), *self.shape[2:])
        self.quantise(name, result)

    def add_pool(self) -> None:
        operator = self.pick("MaxPool", "AveragePool")
        kernel = min(self.pick(2, 3), *self.shape[2:])
        extra = {"count_include_pad": int(self.random.integers(2))}
        pads = [int(n) for n in self.random.integers(0, kernel // 2 + 1, 4)]
        self.pool(
            self.name("pool"), operator, kernel, self.pick(1, 2), pads=pads,
            **(extra if operator == "AveragePool" else {}),
        )  # fmt: skip

    def add_function(self) -> None:
        operator = self.pick("HardSwish", "Sigmoid", "Tanh", "LeakyRelu")
        self.function(self.name(operator.lower()), operator, self.new_scale())

    def add_gate(self) -> None:
        image, shape = self.value, self.shape
        self.average(self.name("mean"))
        self.conv(self.name("gate"), shape[1], 1, scale=self.factor(-6), result=self.new_scale())
        self.value = self.node("Mul", [image, self.value], name := self.name("gated"))
        self.shape = shape
        self.quantise(name, self.new_scale())

    def add_move(self) -> None:
        """Add an operator that moves elements and keeps the scale."""
        kind = self.pick("Transpose", "Slice", "Pad", "Resize", "DepthToSpace")
        if kind == "Slice" and self.shape[2] == 1:
            kind = "Pad"
        name, (_, channels, height, width) = self.name(kind.lower()), self.shape
        if kind == "Transpose":
            order = self.pick([0, 1, 3, 2], [0, 2, 3, 1], [0, 3, 1, 2])
            self.value = self.node(kind, [self.value], name, perm=order)
            self.shape = tuple(self.shape[axis] for axis in order)
        elif kind == "Slice":
            bounds = [np.array([n], np.int64) for n in (1, height, 2, self.pick(1, 2))]
            inputs = [self.constant(f"{name}_{place}", x) for place, x in enumerate(bounds)]
            self.value = self.node(kind, [self.value, *inputs], name)
            self.shape = (1, channels, -(-(height - 1) // int(bounds[3][0])), width)
        elif kind == "Pad":
            pads = np.array([0, 0, *self.random.integers(0, 3, 2)] * 2, np.int64)
            self.value = self.node(kind, [self.value, self.constant(f"{name}_pads", pads)], name)
            self.shape = (1, channels, int(height + 2 * pads[2]), int(width + 2 * pads[3]))
        elif kind == "Resize":
            factors = np.array([1, 1, self.pick(1, 2), self.pick(1, 2)], np.float32)
            self.value = self.node(
                kind, [self.value, "", self.constant(f"{name}_factors", factors)], name,
                mode="nearest", nearest_mode=self.pick("floor", "round_prefer_floor"),
                coordinate_transformation_mode=self.pick("asymmetric", "half_pixel"),
            )  # fmt: skip
            self.shape = (1, channels, height * int(factors[2]), width * int(factors[3]))
        elif channels % 4 == 0:
            self.value = self.node(
                kind, [self.value], name, blocksize=2, mode=self.pick("DCR", "CRD")
            )
            self.shape = (1, channels // 4, height * 2, width * 2)

    def add_transposed(self) -> None:
        name, (_, channels, height, width) = self.name("up"), self.shape
        outputs, kernel, stride = self.pick(2, 3, 4), self.pick(2, 3), self.pick(1, 2)
        if max(height, width) > 16:
            return self.add_conv()
        numbers = self.rng.integers(-8, 9, (channels, outputs, kernel, kernel)).astype(np.int8)
        inputs = [
            self.constant(f"{name}_w", numbers),
            self.constant(f"{name}_ws", np.float32(2.0**-6)),
        ]
        weights = self.node("DequantizeLinear", inputs, f"{name}_wdq")
        pad = int(self.random.integers(0, kernel))
        pad = min(pad, 1) if min(height, width) > 1 else 0  # a result has elements
        self.value = self.node(
            "ConvTranspose", [self.value, weights], name, strides=[stride] * 2, pads=[pad] * 4
        )
        self.shape = (
            1, outputs, *((size - 1) * stride + kernel - 2 * pad for size in (height, width))
        )  # fmt: skip
        return self.quantise(name, self.new_scale())

    def grow(self, count: int) -> None:
        """Add `count` random layers, and the layers with which most networks end."""
        self.add_conv()
        self.remember()
        if self.branches:
            self.add_branches()
            self.remember()
        for _ in range(count):
            kind = self.pick(
                self.add_conv, self.add_conv, self.add_conv, self.add_sum, self.add_sum,
                self.add_concat, self.add_pool, self.add_function, self.add_gate, self.add_move,
                self.add_transposed,
            )  # fmt: skip
            if np.prod(self.shape) > 3000:
                kind = self.add_pool
            kind()
            self.remember()
        if self.random.random() < 0.5:
            if self.random.random() < 0.5:
                self.average("all")
            self.flatten()
            self.gemm("classes", self.pick(3, 5, 10), self.factor(-6))


def random_model(seed: int) -> onnx.ModelProto:
    """Return the random model of a seed."""
    builder = RandomBuilder(seed)
    builder.grow(int(builder.random.integers(1, 7)))
    return builder.model()


def random_device(seed: int) -> Configuration:
    """Return a small device with random sizes of the array, memory and channel."""
    rng = np.random.default_rng(seed + 2)
    base = load(str(rng.choice(["tiny", "base"])))
    changes: dict[str, Any] = {"mem.external_width": int(rng.choice([16, 32, 64]))}
    if rng.random() < 0.2 or Style.random(np.random.default_rng(seed)).dtype == "int16":
        changes["pe.element"] = "int16"
    elif mixes(seed):
        changes["pe.widest"] = "int16"
    return base.changed(changes)


def random_input(model: onnx.ModelProto, seed: int) -> np.ndarray:
    """Return an input whose integers spread over their range."""
    shape = [size.dim_value for size in model.graph.input[0].type.tensor_type.shape.dim]
    return np.random.default_rng(seed).normal(scale=1.5, size=shape).astype(np.float32)
