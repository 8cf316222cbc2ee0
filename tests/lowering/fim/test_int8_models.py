"""Quantised ONNX models on islands in int8: equal to the definition of networks, bit for bit."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.lowering.onnx.pipeline import Plan, network_of, quantise_model
from macaw.lowering.onnx.reference import evaluate
from tests.fuzzing import tries
from tests.lowering.fim.int8_device import DEVICE

pytestmark = pytest.mark.usefixtures("short_search")


class Model:
    """A float model that grows node by node; the last result is `last`, with its shape."""

    def __init__(self, seed: int, shape: tuple[int, ...]) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.start, self.last, self.shape = shape, "x", shape
        self.shapes = {"x": shape}

    def constant(self, *shape: int, scale: float = 1.0) -> str:
        name = f"w{len(self.constants)}"
        numbers = self.random.normal(size=shape) * scale
        self.constants.append(numpy_helper.from_array(numbers.astype(np.float32), name))
        return name

    def node(self, operator: str, inputs: list[str], shape: tuple[int, ...], **attributes) -> None:
        self.last, self.shape = f"{operator.lower()}{len(self.nodes)}", shape
        self.nodes.append(
            helper.make_node(operator, inputs, [self.last], name=f"{self.last}_node", **attributes)
        )
        self.shapes[self.last] = shape

    def made(self) -> onnx.ModelProto:
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shapes[name])
            for name in ("x", self.last)
        ]
        graph = helper.make_graph(self.nodes, "g", ends[:1], ends[1:], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])

    # nodes

    def product(self) -> None:
        deep, wide = self.shape[-1], int(self.random.integers(1, 50))
        inputs = [self.last, self.constant(deep, wide, scale=deep**-0.5)]
        if self.random.integers(3):
            self.node("Gemm", [*inputs, self.constant(wide)], (self.shape[0], wide))
        else:
            self.node("MatMul", inputs, (self.shape[0], wide))

    def convolution(self) -> None:
        batch, channels, high, wide = self.shape
        groups = int(self.random.choice([x for x in (1, 2, channels) if channels % x == 0]))
        outputs = groups * int(self.random.integers(1, 5))
        kernel = int(self.random.choice([1, 2, 3])) if min(high, wide) > 2 else 1
        stride, pad = (int(x) for x in self.random.integers((1, 0), (3, 1 + kernel // 2 + 1)))
        pad = min(pad, kernel - 1)
        weights = self.constant(outputs, channels // groups, kernel, kernel, scale=0.4)
        sizes = ((size + 2 * pad - kernel) // stride + 1 for size in (high, wide))
        self.node(
            "Conv", [self.last, weights, self.constant(outputs, scale=0.3)],
            (batch, outputs, *sizes), group=groups, pads=[pad] * 4, strides=[stride] * 2,
        )  # fmt: skip

    def addition(self) -> None:
        same = [name for name, shape in self.shapes.items() if shape == self.shape]
        other = same[int(self.random.integers(len(same)))]
        # The difference of a tensor and itself has no scale.
        subtracts = other != self.last and self.random.integers(3) == 0
        operator = "Sub" if subtracts else "Add"
        self.node(operator, [self.last, other], self.shape)

    def activation(self) -> None:
        self.node("Relu", [self.last], self.shape)

    def pool(self) -> None:
        batch, channels, high, wide = self.shape
        kind = self.random.choice(["MaxPool", "AveragePool"])
        if min(high, wide) < 2:
            return
        sizes = (high // 2, wide // 2)
        self.node(kind, [self.last], (batch, channels, *sizes), kernel_shape=[2, 2], strides=[2, 2])


def random_model(seed: int) -> onnx.ModelProto:
    random = np.random.default_rng(seed)
    if seed % 2:
        model = Model(seed, (int(random.integers(1, 9)), int(random.integers(1, 60))))
        for _ in range(int(random.integers(1, 4))):
            model.product()
            if random.integers(2):
                model.activation()
            if random.integers(2):
                model.addition()
        return model.made()
    batch, channels, high, wide = random.integers((1, 1, 2, 2), (3, 5, 7, 7)).tolist()
    model = Model(seed, (batch, channels, high, wide))
    for _ in range(int(random.integers(1, 3))):
        model.convolution()
        steps = [model.activation, model.addition, model.pool]
        for number in random.permutation(len(steps))[:2]:
            steps[number]()
    if random.integers(2):
        model.node("Flatten", [model.last], (batch, int(np.prod(model.shape[1:]))))
        model.product()
    return model.made()


@lru_cache(maxsize=4)
def quantised(seed: int) -> onnx.ModelProto:
    model = random_model(seed)
    shape = [x.dim_value for x in model.graph.input[0].type.tensor_type.shape.dim]
    data = np.random.default_rng(seed).normal(size=(4 * shape[0], *shape[1:]))
    return quantise_model(model, {"x": data.astype(np.float32)}, Plan()).model


def check(
    model: onnx.ModelProto, seed: int, device=DEVICE, resident: float = 0.5
) -> macaw.GraphLowering:
    """Lower and run a model; the result and the cycles must be those of definition and plan."""
    network = network_of(model)
    found = macaw.lower_graph(model, device=device, resident=resident)
    x = np.random.default_rng(seed + 1).normal(size=network.tensors["x"].shape)
    wanted = evaluate(network, {"x": x.astype(np.float32)})
    (end,) = (layer for layer in network.layers if layer.operator == "DequantizeLinear")
    (begin,) = (layer for layer in network.layers if layer.operator == "QuantizeLinear")
    run = macaw.run(found.assemble(), x=wanted[begin.outputs[0]])
    (output,) = run.outputs.values()
    assert output.dtype == np.int8
    np.testing.assert_array_equal(output, wanted[end.inputs[0]])
    assert run.cycles == found.cycles
    return found


@pytest.mark.few(4)
@pytest.mark.parametrize("seed", range(tries(16)))
def test_random_models(seed: int) -> None:
    check(quantised(seed), seed)


@pytest.mark.parametrize("seed", [1, 3])
def test_constants_that_do_not_stay(seed: int) -> None:
    assert check(quantised(seed), seed, resident=0).cycles > check(quantised(seed), seed).cycles


@pytest.mark.few(3)
@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize("preset", ["hbm2_pim", "ddr4_dimm"])
def test_timings_of_drams(preset: str, seed: int) -> None:
    """Presets with the timing of a DRAM, whose islands get int8 as a further format."""
    plain = macaw.configuration(preset)
    names = [name for name in plain if name.startswith("fim.island.") and name.endswith(".formats")]
    check(quantised(seed), seed, plain.changed({name: f"{plain[name]} int8" for name in names}))


def test_a_quantised_model_has_the_format_int8_by_default() -> None:
    """On islands with several formats too; a device without int8 refuses it."""
    several = DEVICE.changed({f"fim.island.{n}.formats": "fp16 int8" for n in range(4)})
    found = check(quantised(1), 1, several)
    assert ".input" in found.source
    assert "int8" in found.source
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower_graph(quantised(1), device="base", number_format="int8")
    assert "island 0 has no int8, but fp16, fp32" in caught.value.hint


def test_a_floating_point_model_needs_scales() -> None:
    with pytest.raises(macaw.InputError) as caught:
        macaw.lower_graph(random_model(1), device=DEVICE, number_format="int8")
    assert caught.value.message == "a floating-point model in int8"
    assert caught.value.hint == "macaw quantise makes a quantised one"


def test_nodes_that_int8_does_not_have_are_named() -> None:
    model = Model(3, (2, 20))
    model.product()
    model.node("Sigmoid", [model.last], model.shape)
    data = {"x": np.random.default_rng(3).normal(size=(8, 20)).astype(np.float32)}
    made = quantise_model(model.made(), data, Plan()).model
    with pytest.raises(
        macaw.InputError, match=r"node sigmoid1_node \(Sigmoid\): its table is no product"
    ):
        macaw.lower_graph(made, device=DEVICE)
    model = Model(4, (2, 20))
    model.product()
    made = quantise_model(model.made(), data, Plan(per_channel=True)).model
    with pytest.raises(macaw.InputError, match="its sums are not divided by one power of two"):
        macaw.lower_graph(made, device=DEVICE)
