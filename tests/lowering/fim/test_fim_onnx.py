"""ONNX graphs as tasks: results in float64 are onnxruntime's; the texts of errors."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, POINTWISE, PRODUCT, SCATTER
from macaw.lowering.fim.onnx_graph import read
from macaw.lowering.onnx.model_file import parse
from tests.lowering.fim.onnx_models import (
    RANDOM,
    check_outputs,
    model,
    model_of_node,
    random_numbers,
    task_kinds,
)


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("constant", ["", "a", "b"])
def test_gemm(turns, constant):
    """A Gemm with any transpositions and constants becomes tasks (seed 004 ¶61)."""
    shapes = {"a": (3, 4)[:: -1 if turns & 1 else 1], "b": (4, 5)[:: -1 if turns & 2 else 1]}
    node = helper.make_node(
        "Gemm", ["a", "b", "c"], ["y"], transA=turns & 1, transB=turns >> 1, alpha=0.5, beta=2.0
    )
    constants = {constant: random_numbers(*shapes.pop(constant))} if constant else {}
    check_outputs(model([node], shapes, c=random_numbers(5), **constants))


@pytest.mark.parametrize(
    ("a", "b"),
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (1, 4, 5))],
)
def test_matmul(a, b):
    graph = check_outputs(
        model([helper.make_node("MatMul", ["a", "b"], ["y"])], {"a": a}, b=random_numbers(*b))
    )
    assert task_kinds(graph) == [PRODUCT]


@pytest.mark.parametrize("kind", ["Add", "Sub", "Mul", "Div"])
@pytest.mark.parametrize(("a", "b"), [((3, 4), (4,)), ((3, 4), (3, 1)), ((2, 1, 4), (3, 1))])
def test_functions_of_two_with_repeated_sides(kind, a, b):
    check_outputs(
        model([helper.make_node(kind, ["a", "b"], ["y"])], {"a": a}, b=random_numbers(*b) + 3)
    )
    graph = check_outputs(model([helper.make_node(kind, ["b", "a"], ["y"])], {"a": a, "b": b}))
    assert task_kinds(graph).count(POINTWISE) == 1


@pytest.mark.parametrize("kind", ["Relu", "Sigmoid", "Tanh"])
def test_functions_of_one(kind):
    assert task_kinds(
        check_outputs(model([helper.make_node(kind, ["x"], ["y"])], {"x": (2, 3, 4)}))
    ) == [POINTWISE]


def test_sqrt():
    nodes = [helper.make_node("Mul", ["x", "x"], ["s"]), helper.make_node("Sqrt", ["s"], ["y"])]
    check_outputs(model(nodes, {"x": (3, 3)}))


CONVOLUTIONS = [
    ({}, (1, 2, 6, 7), (3, 2, 3, 3)),
    ({"pads": [1, 0, 2, 1], "strides": [2, 1]}, (1, 2, 6, 7), (3, 2, 3, 2)),
    ({"dilations": [2, 1]}, (2, 1, 7, 6), (2, 1, 3, 3)),
    ({"group": 2, "auto_pad": "SAME_UPPER", "strides": [2, 2]}, (1, 4, 6, 6), (4, 2, 3, 3)),
    ({"auto_pad": "SAME_LOWER"}, (1, 1, 5, 5), (1, 1, 2, 2)),
    ({"pads": [1, 1]}, (2, 3, 8), (4, 3, 3)),
]


@pytest.mark.parametrize(("attributes", "image", "weights"), CONVOLUTIONS)
def test_convolutions(attributes, image, weights):
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], **attributes)
    graph = check_outputs(
        model([node], {"x": image}, w=random_numbers(*weights), b=random_numbers(weights[0]))
    )
    assert task_kinds(graph).count(PRODUCT) == 1


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize(("steps", "outputs"), [(1, ["y", "last"]), (3, ["y"]), (3, ["", "last"])])
def test_gru(late, steps, outputs):
    node = helper.make_node(
        "GRU", ["x", "w", "r", "b", "", "h"], outputs, hidden_size=5, linear_before_reset=late
    )
    given = {"x": (steps, 2, 4), "h": (1, 2, 5)}
    made = model(
        [node], given, [name for name in outputs if name],
        w=random_numbers(1, 15, 4), r=random_numbers(1, 15, 5), b=random_numbers(1, 30),
    )  # fmt: skip
    check_outputs(made)


MOVES = [
    ("Reshape", {}, [np.array([4, -1])], [PRODUCT]),
    ("Flatten", {"axis": 1}, [], [PRODUCT]),
    ("Squeeze", {}, [], [PRODUCT]),
    ("Transpose", {"perm": [2, 1, 0]}, [], [PRODUCT, GATHER]),
    ("Slice", {}, [np.array([1]), np.array([3]), np.array([0])], [PRODUCT]),
    ("Slice", {}, [np.array([5]), np.array([0]), np.array([2]), np.array([-2])], [PRODUCT, GATHER]),
    ("Gather", {"axis": 2}, [np.array([[3, -1], [0, 0]])], [PRODUCT, GATHER]),
    ("GatherElements", {"axis": 0}, [RANDOM.integers(0, 3, (2, 2, 6))], [PRODUCT, GATHER]),
    ("GatherND", {}, [np.array([[2, 1], [0, 0]])], [PRODUCT, GATHER]),
    ("Tile", {}, [np.array([1, 2, 1])], [PRODUCT, GATHER]),
    ("Expand", {}, [np.array([2, 3, 2, 6])], [PRODUCT, GATHER]),
    ("Pad", {}, [np.array([1, 0, 2, 0, 0, 1])], [PRODUCT, SCATTER]),
    ("Pad", {"mode": "edge"}, [np.array([1, 0, 2, 0, 0, 1])], [PRODUCT, GATHER]),
]


@pytest.mark.parametrize(("kind", "attributes", "inputs", "wanted"), MOVES)
def test_what_only_moves_is_a_view_or_segments(kind, attributes, inputs, wanted):
    """An operator that only moves elements becomes a view, or a gather of segments.

    Here the operator's input is a product's result (3, 2, 6).
    """
    names = [f"i{number}" for number in range(len(inputs))]
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["p"]),
        helper.make_node(kind, ["p", *names], ["m"], **attributes),
        helper.make_node("Relu", ["m"], ["y"]),
    ]
    constants = dict(zip(names, inputs, strict=True))
    graph = check_outputs(model(nodes, {"x": (3, 2, 4)}, w=random_numbers(4, 6), **constants))
    assert task_kinds(graph) == [*wanted, POINTWISE]


def test_split_and_concat():
    nodes = [
        helper.make_node("Split", ["x"], ["a", "b"], axis=1, num_outputs=2),
        helper.make_node("Concat", ["b", "c", "a"], ["y"], axis=1),
    ]
    check_outputs(model(nodes, {"x": (3, 4)}, c=random_numbers(3, 2)))


@pytest.mark.parametrize("constant", ["", "data", "updates"])
def test_scatters(constant):
    shapes = {"data": (5, 4), "updates": (2, 4)}
    constants = {constant: random_numbers(*shapes.pop(constant))} if constant else {}
    node = helper.make_node("ScatterND", ["data", "i", "updates"], ["y"])
    graph = check_outputs(model([node], shapes, i=np.array([[3], [0]]), **constants))
    assert [task.width for task in graph.tasks] == [4]
    node = helper.make_node("ScatterElements", ["data", "i", "updates"], ["y"], axis=1)
    places = np.array([[1, 0, 3, 2], [0, 1, 2, 3]])
    check_outputs(model([node], shapes, i=places, **constants))


def test_constants_are_computed_before_and_casts_are_none():
    nodes = [
        helper.make_node(
            "Constant", [], ["two"], value=numpy_helper.from_array(np.array(2, np.float32))
        ),
        helper.make_node("Exp", ["two"], ["e"]),
        helper.make_node("Cast", ["x"], ["half"], to=TensorProto.FLOAT),
        helper.make_node("Shape", ["x"], ["size"], start=1),
        helper.make_node("ConstantOfShape", ["size"], ["zeros"]),
        helper.make_node("Add", ["half", "zeros"], ["sum"]),
        helper.make_node("Mul", ["sum", "e"], ["y"]),
    ]
    assert task_kinds(check_outputs(model(nodes, {"x": (2, 3)}))) == [POINTWISE, POINTWISE]


def test_outputs_have_tensors_of_their_own():
    """Each output has its own tensor, also if it is an input or equals another output."""
    nodes = [
        helper.make_node("Identity", ["x"], ["same"]),
        helper.make_node("Relu", ["x"], ["y"]),
        helper.make_node("Reshape", ["y", "shape"], ["flat"]),
    ]
    made = model(nodes, {"x": (2, 3)}, ["same", "y", "flat"], shape=np.array([6]))
    assert task_kinds(check_outputs(made)) == [POINTWISE, GATHER, GATHER]


def test_names_of_dimensions_and_tensors():
    made = model([helper.make_node("Relu", ["in/x.1"], ["out y"])], {"in/x.1": ("N", 3)}, ["out y"])
    graph = check_outputs(made, N=4)
    assert [tensor.name for tensor in (*graph.inputs, *graph.results)] == ["in_x_1", "out_y"]


def whole(made, *rows):
    """Set the types of all inputs and outputs (or of `rows`) to int32; return the model."""
    for row in rows or (*made.graph.input, *made.graph.output):
        row.type.tensor_type.elem_type = TensorProto.INT32
    return made


def whole_outputs(made):
    return whole(made, *made.graph.output)


def declared(**fields):
    """A model of a Relu whose output is declared with these fields."""
    made = model_of_node("Relu")
    for name, value in fields.items():
        setattr(made.graph.output[0].type.tensor_type, name, value)
    return made


def shapeless():
    made = model_of_node("Relu")
    made.graph.input[0].type.tensor_type.ClearField("shape")
    return made


def with_more(field):
    """A model of a Relu with one more entry in `field`."""
    made = model_of_node("Relu")
    getattr(made if hasattr(made, field) else made.graph, field).add()
    return made


GRU = {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}
INDEX = np.array([[1], [1]])
REFUSED = [
    (with_more("sparse_initializer"), "sparse initializers are not read"),
    (with_more("opset_import"), "the model does not name exactly one ONNX operator set"),
    (shapeless(), "the input x: it has no shape"),
    (model([helper.make_node("Relu", ["x"], ["y"])], {"x": (1,)}, ["z"]), "no node makes the output z"),
    (declared(elem_type=TensorProto.DOUBLE), "the output y is of float, the model says double"),
    (model([helper.make_node("Pad", ["x", "p", "v"], ["y"])], {"x": (4, 4), "v": ()}, p=np.array([1] * 4)), "where its numbers go depends on an input"),
    (model_of_node("Conv", ("x", "w"), (1, 1, 4, 4), {"w": random_numbers(1, 1, 2, 2)}, pads=[-1, 0, 0, 0]), "refuse it: Attribute pads must not contain negative values"),
    (model([helper.make_node("GRU", ["x", "w", "r", "b"], ["y"], hidden_size=1)], {"x": (1, 1, 2), "b": (1, 6)}, **GRU), "its bias depends on an input"),
    (model_of_node("Erf"), r"node it \(Erf\): no task of the islands does it"),
    (model_of_node("Relu", shape=("N", 4)), "the input x: a dimension has no size, 'N'"),
    (whole(model_of_node("Relu")), "the input x: it is of int32, no floating-point type"),
    (model_of_node("Relu", shape=(0, 4)), r"the input x: sizes of \(0, 4\), which are 1 at least"),
    (whole_outputs(model_of_node("Cast", to=TensorProto.INT32)), "a cast to another type"),
    (model_of_node("MatMul", ("x", "c"), constants={"c": random_numbers(3, 3)}), "ONNX's rules refuse it: Incompatible dimensions for matrix"),
    (model_of_node("Mul", ("x", "c"), constants={"c": np.float32(1e6)}), "the constant 1e.06 is too large for fp16"),
    (model_of_node("Gather", ("x", "i"), constants={"i": np.array([7])}), "reference cannot compute it: index 7 is out of bounds"),
    (model_of_node("Pad", ("x", "p", "v"), constants={"p": np.array([1] * 4), "v": np.float32(1)}), "a frame of other numbers"),
    (model_of_node("Pad", ("x", "p"), constants={"p": np.array([-1] * 4)}), "a negative frame"),
    (model_of_node("ScatterND", ("x", "i", "u"), constants={"i": INDEX, "u": random_numbers(2, 4)}), "two rows go to one place"),
    (model_of_node("ScatterND", ("x", "i", "u"), constants={"i": INDEX, "u": random_numbers(2, 4)}, reduction="add"), "the reduction add"),
    (model_of_node("Conv", ("x", "z"), (1, 1, 4, 4)), "its weights depend on an input"),
    (model_of_node("Conv", ("x", "w"), (1, 1, 2, 2), {"w": random_numbers(1, 1, 3, 3)}), r"a kernel \(3, 3\) does not fit into an image"),
    (model_of_node("Conv", ("x", "w"), (1, 3, 4, 4), {"w": random_numbers(1, 1, 3, 3)}), "in 1 groups for the image"),
    (model_of_node("Conv", ("x", "w", "b"), (1, 2, 5), {"w": random_numbers(3, 2, 3), "b": random_numbers(1)}), r"its bias is not of shape \(3,\)"),
    (model([helper.make_node("ConvTranspose", ["x", "w", "b"], ["y"])], {"x": (1, 2, 5), "b": ()}, w=random_numbers(2, 3, 3)), r"its bias is not of shape \(3,\)"),
    (model_of_node("Conv", ("x", "w"), (1, 1, 2, 2, 2), {"w": random_numbers(1, 1, 1, 1, 1)}), "an image of the shape"),
    (model_of_node("GRU", ("x", "z", "z"), (1, 3, 3), hidden_size=1), "its weights depend on an input"),
    (model_of_node("GRU", ("x", "w", "r"), (1, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}, hidden_size=1, direction="sideways"), "direction is 'sideways', not one of forward, reverse, bidirectional"),
    (model_of_node("GRU", ("x", "w", "r"), (1, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}), "hidden_size is missing"),
    (model_of_node("GRU", ("x", "w", "r"), (1, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}, hidden_size=0), "hidden_size is 0, which is not positive"),
    (model_of_node("GRU", ("x", "w", "r"), (1, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}, hidden_size=1, clip=1.0), "clip is not supported"),
    (model_of_node("GRU", ("x", "w", "r"), (1, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 3, 1)}, hidden_size=1, activations=["Elu", "Tanh"]), "the functions Elu Tanh"),
    (model([helper.make_node("Exp", ["c"], ["y"])], {"x": (1,)}, c=random_numbers(1)), "y does not depend on any input"),
]  # fmt: skip


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_what_is_refused(made, message):
    with pytest.raises(LowerError, match=message):
        read(made, form=0)


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "x.onnx"
    for data in (b"", b"hello there", model_of_node("Relu").SerializeToString()[:-9]):
        path.write_bytes(data)
        with pytest.raises(LowerError, match="is no ONNX model"):
            parse(path.read_bytes(), path)
    made = model_of_node("Relu")
    made.graph.output[0].type.tensor_type.shape.dim.add().dim_value = 4
    made.graph.output[0].type.tensor_type.shape.dim.add().dim_value = 4
    onnx.save(made, path)
    assert parse(path.read_bytes(), path).graph.node[0].op_type == "Relu"


def rnn_model():
    """One step of an RNN, whose two outputs have the same numbers."""
    node = helper.make_node("RNN", ["x", "W", "R"], ["Y", "last"], hidden_size=2)
    numbers = {"W": random_numbers(1, 2, 3), "R": random_numbers(1, 2, 2)}
    return model([node], {"x": (1, 1, 3)}, ["Y", "last"], **numbers)


CUBE = helper.make_node("Pow", ["x", "three"], ["y"])  # its first task is called y, too
HALF_CUBE = [CUBE, helper.make_node("Relu", ["y"], ["y_2"])]
RENAMED = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Identity", ["a"], ["y"])]
SHAPED = [helper.make_node("Relu", ["x"], ["y.1"]), helper.make_node("Relu", ["y.1"], ["y/1"])]
THREE = {"three": np.float32(3)}


@pytest.mark.parametrize(
    ("made", "names"),
    [
        (model([CUBE], {"x": (2, 3)}, **THREE), ["y"]),
        (model(HALF_CUBE, {"x": (2, 3)}, ["y", "y_2"], **THREE), ["y", "y_2"]),
        (model(HALF_CUBE, {"x": (2, 3)}, ["y_2"], **THREE), ["y_2"]),
        (model(RENAMED, {"x": (2, 3)}), ["y"]),
        (model(RENAMED, {"x": (2, 3)}, ["y", "a"]), ["y", "a"]),
        (model(SHAPED, {"x": (2, 3)}, ["y.1", "y/1"]), ["y_1", "y_1_2"]),
        (model([helper.make_node("Relu", ["y.1"], ["y/1"])], {"y.1": (2, 3)}, ["y/1"]), ["y_1_2"]),
        (rnn_model(), ["Y", "last"]),
    ],
)
def test_results_have_the_names_of_outputs(made, names):
    """If two names become one symbol, the later one gets a number."""
    assert [tensor.name for tensor in check_outputs(made).results] == names
