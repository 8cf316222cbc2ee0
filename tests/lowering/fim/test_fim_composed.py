"""Maximum and minimum, which an island computes by several functions of its ALU."""

from itertools import product

import ml_dtypes
import numpy as np
import pytest
from onnx import helper

import macaw
from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS, FUNCTION_NAMES
from macaw.lowering.fim.composed_functions import expand, functions_of
from macaw.lowering.fim.graph import MANY_STEPS, Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Refusal
from tests.lowering.fim.onnx_models import model, random_numbers
from tests.lowering.fim.running import BASE, TINY, modelled, numpy_type, with_bf16

pytestmark = pytest.mark.usefixtures("short_search")


def _pairs(form):
    """All pairs of special numbers except NaN."""
    what = ml_dtypes.finfo(numpy_type(form))
    least = float(what.smallest_subnormal)
    numbers = [0, 1, 1.5, float(what.max), float(what.tiny), least, 3 * least, np.inf]
    some = np.array([sign * x for x in numbers for sign in (1, -1)], form.numbers)
    return np.meshgrid(some, some)


def _emulated(device, form, a, b):
    """The run of a program with a maximum and a minimum, and the values of the model."""
    graph = Graph(form)
    x, y = (graph.tensor(name, *a.shape) for name in "xy")
    graph.pointwise("max", x, y, name="hi")
    graph.pointwise("min", x, y, name="lo")
    found = macaw.lower_graph(graph, device=device)
    done = macaw.run(found.assemble(), x=a, y=b)
    return done, modelled(found.plan, graph, {"x": a, "y": b})


@pytest.mark.parametrize("form", [n for n, row in enumerate(FORMATS) if not row.is_integer])
@pytest.mark.parametrize("device", [TINY, BASE], ids=["tiny", "base"])
def test_all_pairs_of_special_numbers(device, form):
    a, b = _pairs(FORMATS[form])
    device = with_bf16(device) if FORMATS[form].name == "bf16" else device
    done, wanted = _emulated(device, form, a, b)
    for name, array in wanted.items():
        bits = f"u{array.itemsize}"
        np.testing.assert_array_equal(done.outputs[name].view(bits), array.view(bits))
    np.testing.assert_array_equal(done.outputs["hi"], np.maximum(a, b))
    np.testing.assert_array_equal(done.outputs["lo"], np.minimum(a, b))


def test_nan_and_overflows_of_differences():
    """With a NaN, the maximum is the first operand, and the minimum is the second operand."""
    a, b = (np.array([row], np.float16) for row in ([np.nan, 1, 65504], [1, np.nan, -65504]))
    done, _ = _emulated("tiny", 0, a, b)
    np.testing.assert_array_equal(done.outputs["hi"], [[np.nan, 1, 65504]])
    np.testing.assert_array_equal(done.outputs["lo"], [[1, np.nan, -65504]])


def test_random_numbers_of_all_sizes():
    bits = np.random.default_rng(1).integers(0, 1 << 16, (2, 40, 40), dtype=np.uint16)
    a, b = np.where(np.isnan(bits.view(np.float16)), 0, bits.view(np.float16))
    done, _ = _emulated("tiny", 0, a, b)
    np.testing.assert_array_equal(done.outputs["hi"], np.maximum(a, b))
    np.testing.assert_array_equal(done.outputs["lo"], np.minimum(a, b))


def test_functions_of_the_alu():
    assert functions_of("add", 0) == {"add"}
    assert functions_of("mul_add", FORMAT_NAMES.index("int8")) == {"mul"}
    for function, form in product(MANY_STEPS, range(len(FORMATS))):
        assert functions_of(function, form) < set(FUNCTION_NAMES)
        graph = Graph(form)
        graph.pointwise(function, graph.tensor("a", 2, 3), graph.tensor("b", 2, 3), name="y")
        steps = list(expand(graph.tasks, form))
        assert {step.function for step in steps} == functions_of(function, form)
        assert steps[-1].output is graph.tasks[0].output


def test_an_island_without_one_of_the_functions():
    graph = Graph()
    graph.pointwise("max", graph.tensor("a", 2, 3), graph.tensor("b", 2, 3))
    device = TINY.changed({"fim.island.0.functions": "add sub mul or and", "fim.islands": 1})
    with pytest.raises(macaw.InputError, match="nothing can do") as caught:
        macaw.lower_graph(graph, device=device)
    assert "island 0 has no xor" in str(caught.value.hint)


def test_a_maximum_is_no_function_of_a_products_start():
    graph = Graph()
    product = graph.product(graph.tensor("a", 4, 4), graph.constant("b", np.eye(4)))
    graph.pointwise("max", product, graph.constant("c", np.ones((4, 4))))
    answers = options(tuple(graph.tasks), TINY)
    whys = {row.why for row in answers if isinstance(row, Refusal)}
    assert whys == {"max is no function of the ALU"}


def test_constants_of_maxima_stay_in_the_banks_once():
    """The constants of two maxima of equal size are stored once."""

    def resident_bytes(count):
        graph = Graph()
        for number in range(count):
            sides = (graph.tensor(f"{side}_of_{number}", 1, 160) for side in "ab")
            graph.pointwise("max", *sides)
        return macaw.lower_graph(graph, device="tiny").resident_bytes

    assert resident_bytes(1) == resident_bytes(2) > 0


OPERATORS = [
    ("Softmax", {"axis": -1}, (3, 11), []),
    (
        "MaxPool",
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        (1, 3, 7, 7),
        [],
    ),
    ("Clip", {}, (4, 9), [np.float32(-0.5), np.float32(0.5)]),
    ("Clip", {}, (4, 9), [np.float32(-3.4028235e38), np.float32(0.5)]),
    ("Clip", {}, (4, 9), [np.float32(0), np.float32(3.4028235e38)]),
    ("HardSwish", {}, (4, 9), []),
    ("LRN", {"size": 3, "alpha": 0.5}, (1, 6, 3, 3), []),
    ("LeakyRelu", {}, (4, 9), []),
]


@pytest.mark.parametrize(("kind", "attributes", "shape", "inputs"), OPERATORS)
def test_operators_on_islands(kind, attributes, shape, inputs):
    """Each operator gives the bits of the model of islands, near its value in real numbers."""
    names = [f"i{number}" for number in range(len(inputs))]
    made = model(
        [helper.make_node(kind, ["x", *names], ["y"], **attributes)], {"x": shape},
        **dict(zip(names, inputs, strict=True)),
    )  # fmt: skip
    found = macaw.lower_graph(made)
    x = random_numbers(*shape).astype(np.float16)
    done = macaw.run(found.assemble(), x=x)
    np.testing.assert_array_equal(
        done.outputs["y"], modelled(found.plan, found.graph, {"x": x})["y"]
    )
    matrix = np.asarray(x, float).reshape(-1, shape[-1])
    real = found.graph.evaluate({"x": matrix})["y"].reshape(done.outputs["y"].shape)
    np.testing.assert_allclose(done.outputs["y"], real, atol=0.004, rtol=0.004)
