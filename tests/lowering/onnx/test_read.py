"""Frozen graphs: static shapes, constants, branches; errors and their texts."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import check
from macaw.lowering.onnx.read import Wishes, read
from macaw.lowering.onnx.samples import random_sample, samples
from macaw.lowering.onnx.values import Room
from tests.lowering.onnx.models import NODE, branch, model
from tests.lowering.onnx.running import outputs_of

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def frozen(made, **wishes):
    check(made)
    return read(made, Wishes(**wishes))


def operators(graph):
    return [node.operator for node in graph.nodes]


def test_names_shapes_and_constants_are_those_of_the_model():
    weights = np.arange(12, dtype=np.float32).reshape(4, 3)
    nodes = [
        NODE("MatMul", ["x", "w"], ["sum"], name="dense"),
        NODE("Mul", ["two", "two"], ["four"]),
        NODE("Mul", ["sum", "four"], ["y"], name="scaled"),
    ]
    graph = frozen(model(nodes, {"x": (2, 4)}, w=weights, two=np.float32(2)))
    assert [(node.name, node.inputs, node.outputs) for node in graph.nodes] == [
        ("dense", ("x", "w"), ("sum",)),
        ("scaled", ("sum", "four"), ("y",)),
    ]
    assert graph.values["sum"].shape == (2, 3)
    assert graph.constant("four") == 4
    np.testing.assert_array_equal(graph.constant("w"), weights)
    assert (graph.inputs, graph.outputs, graph.constant("x")) == (("x",), ("y",), None)


def test_integer_inputs():
    nodes = [NODE("Gather", ["table", "x"], ["y"])]
    graph = frozen(model(nodes, {"x": ((2, 5), INT64)}, table=np.ones((7, 3), np.float32)))
    assert graph.values["x"].element == INT64
    assert graph.values["y"].shape == (2, 5, 3)


def test_sizes_of_dimensions():
    made = model([NODE("Relu", ["x"], ["y"])], {"x": ("batch", 3, "width")})
    graph = frozen(made, dims={"batch": 2, "width": 8})
    assert graph.values["y"].shape == (2, 3, 8)
    assert frozen(made, shapes={"x": (4, 3, 5)}).values["y"].shape == (4, 3, 5)
    with pytest.raises(
        LowerError, match=r"^the input x: a dimension has no size, 'width'$"
    ) as caught:
        frozen(made, dims={"batch": 2})
    assert caught.value.hint == "--dim width=N, dims={'width': N}"
    with pytest.raises(LowerError, match=r"^the model calls no dimension 'height'$"):
        frozen(made, dims={"height": 2})
    with pytest.raises(
        LowerError, match=r"^the input x: a shape of \(1, 4, 5\), the model says \(\?, 3, \?\)$"
    ):
        frozen(made, shapes={"x": (1, 4, 5)})
    with pytest.raises(LowerError, match=r"^the model has no input 'z'$"):
        frozen(made, shapes={"z": (1, 4, 5)})


def test_sizes_of_minus_one_are_not_known():
    made = model([NODE("Relu", ["x"], ["y"])], {"x": (-1, 3)}, {"y": ((-1, 3), FLOAT)})
    assert frozen(made, shapes={"x": (2, 3)}).values["y"].shape == (2, 3)


def test_dropout_is_its_input_in_early_operator_sets():
    """Dropout of early operator sets is its input, although their rules give the mask no shape."""
    nodes = [NODE("Dropout", ["x"], ["d", "mask"]), NODE("Relu", ["d"], ["y"])]
    graph = frozen(model(nodes, {"x": (2, 3)}, version=9))
    assert operators(graph) == ["Identity", "Relu"]
    assert graph.constant("mask").all()


def conditional(condition, **constants):
    """A model that gives -x if a condition holds, else x * 2; both branches have a value `z`."""
    two = NODE("Mul", ["x", "c"], ["z"], name="doubled")
    branches = {
        "then_branch": branch("a", [NODE("Neg", ["x"], ["z"], name="negated")], ["z"]),
        "else_branch": branch("b", [two], ["z"], c=np.float32(2)),
    }
    nodes = [
        *condition,
        NODE("If", ["cond"], ["first"], name="choice", **branches),
        NODE("If", ["cond"], ["second"], name="again", **branches),
        NODE("Add", ["first", "second"], ["y"]),
    ]
    return model(nodes, {"x": (2, 3)}, **constants)


@pytest.mark.parametrize(("rows", "label"), [(2, "negated"), (3, "doubled")])
def test_if_on_constants(rows, label):
    """An If on the shape of an input is decided; its nodes keep their names, or get a number."""
    condition = [
        NODE("Shape", ["x"], ["shape"], start=0, end=1),
        NODE("Squeeze", ["shape"], ["size"]),
        NODE("Equal", ["size", "rows"], ["cond"]),
    ]
    graph = frozen(conditional(condition, rows=np.int64(rows)))
    assert [node.name for node in graph.nodes if node.name] == [label, "choice", label, "again"]
    assert [node.outputs for node in graph.nodes] == [
        ("z",), ("first",), ("z_2",), ("second",), ("y",),
    ]  # fmt: skip


def test_an_input_as_constant_decides_if():
    nodes = [
        NODE("Equal", ["rate", "high"], ["cond"]),
        NODE("If", ["cond"], ["y"],
             then_branch=branch("a", [NODE("Neg", ["x"], ["n"])], ["n"]),
             else_branch=branch("b", [NODE("Abs", ["x"], ["p"])], ["p"])),
    ]  # fmt: skip
    made = model(nodes, {"x": (3,), "rate": ((), INT64)}, high=np.int64(16000))
    assert operators(frozen(made, constants={"rate": np.array(16000)})) == ["Neg", "Identity"]
    assert operators(frozen(made, constants={"rate": np.array(8000)})) == ["Abs", "Identity"]
    with pytest.raises(LowerError, match=r"^a node If: its condition depends on an input$"):
        frozen(made)
    with pytest.raises(LowerError, match=r"^the input rate: the constant is no int64$"):
        frozen(made, constants={"rate": np.array(1.5)})
    with pytest.raises(
        LowerError, match=r"^the input rate: a shape of \(2,\), the model says \(\)$"
    ):
        frozen(made, constants={"rate": np.array([1, 2])})


def test_constants_of_float_inputs_are_rounded():
    made = model([NODE("Add", ["x", "c"], ["y"])], {"x": (3,), "c": (1,)})
    assert frozen(made, constants={"c": np.array(0.1)}).constant("c") == np.float32(0.1)


def test_quantised_constants_stay_integers():
    nodes = [NODE("DequantizeLinear", ["q", "s"], ["w"]), NODE("MatMul", ["x", "w"], ["y"])]
    constants = {"q": np.ones((4, 4), np.int8), "s": np.float32(0.5)}
    made = model(nodes, {"x": (2, 4)}, **constants)
    assert operators(frozen(made)) == ["DequantizeLinear", "MatMul"]
    assert operators(frozen(made, not_folded=frozenset())) == ["MatMul"]


LOOP = branch("body", [NODE("Identity", ["x"], ["z"])], ["z"])
REFUSED = [
    (model([NODE("If", ["c"], ["y"], name="it", then_branch=LOOP, else_branch=LOOP)], {"x": (2,)}, c=np.array([True, False])), r"node it \(If\): its condition has 2 values"),
    (model([NODE("Relu", ["x"], ["y"], name="it", domain="mine")], {"x": (2,)}), r"node it \(Relu\): the domain mine is not ONNX's own"),
    (model([NODE("NonZero", ["x"], ["y"], name="it")], {"x": (2,)}), r"node it \(NonZero\): the size of its result is not known beforehand"),
    (model([NODE("Loop", ["n", "c"], ["y"], name="it", body=LOOP)], {"x": (2,)}, n=np.int64(2), c=np.True_), r"node it \(Loop\): it executes a graph of its own"),
    (model([NODE("Expand", ["x", "s"], ["y"], name="it")], {"x": (1,)}, s=np.array([10**6, 10**6])), r"node it \(Expand\): 1,000,000,000,000 numbers take 4,000,000,000,000 bytes"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": (10**6, 10**6)}), "the input x: 1,000,000,000,000 numbers take"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": ((2,), TensorProto.STRING)}), "the input x: it is of string, no type of numbers"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": None}), "the input x: it has no shape"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": (0, 2)}), r"the input x: sizes of \(0, 2\), which are 1 at least"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": (2,)}, {"y": ((2,), INT64)}), "the output y is of float, the model says int64"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": (2,)}, {"y": ((3,), FLOAT)}), r"the output y is of \(2,\), the model says \(3\)"),
    (model([NODE("Relu", ["x"], ["y"])], {"x": (2,)}, {}), "the model has no output$"),
]  # fmt: skip

AXES = [  # operator, attributes, the shape of its input, the operator set; onnxruntime refuses all
    *(("Softmax", {}, (), version) for version in (9, 11, 13)),
    ("Softmax", {}, (3,), 9),  # the default is axis 1
    ("Softmax", {"axis": -3}, (2, 3), 13),
    ("LogSoftmax", {"axis": 2}, (2, 3), 11),
    ("ReduceSum", {"axes": [0]}, (), 11),
    ("ReduceMax", {"axes": [5]}, (2, 3), 13),
    ("ArgMax", {"axis": 2}, (2, 3), 13),
    ("Squeeze", {"axes": [5]}, (1, 2), 11),
    ("LayerNormalization", {"axis": 2}, (2, 3), 17),
    ("BatchNormalization", {}, (), 13),
]


@pytest.mark.parametrize(("operator", "attributes", "shape", "version"), AXES)
def test_an_axis_that_the_input_does_not_have(operator, attributes, shape, version):
    more = {"LayerNormalization": 1, "BatchNormalization": 4}.get(operator, 0)
    constants = {f"c{number}": np.ones(1, np.float32) for number in range(more)}
    node = NODE(operator, ["x", *constants], ["y"], name="it", **attributes)
    with pytest.raises(LowerError, match=rf"node it \({operator}\): .*(axis|axes|[Rr]ank)"):
        read(model([node], {"x": shape}, version=version, **constants))


@pytest.mark.parametrize(("operator", "attributes", "version"), [("ReduceSum", {}, 11), ("Squeeze", {}, 13), ("ReduceMax", {}, 13)])  # fmt: skip
def test_a_number_without_axes_is_reduced_to_itself(operator, attributes, version):
    node = NODE(operator, ["x"], ["y"], name="it", **attributes)
    assert read(model([node], {"x": ()}, version=version)).values["y"].shape == ()


def test_limits_of_clip_are_single_numbers():
    node = NODE("Clip", ["x", "low"], ["y"], name="it")
    assert read(model([node], {"x": (3,)}, low=np.zeros(1, np.float32))).nodes
    with pytest.raises(LowerError, match=r"node it \(Clip\): its limits must be single numbers"):
        read(model([node], {"x": (3,)}, low=np.zeros(3, np.float32)))


@pytest.mark.parametrize("operator", ["Conv", "ConvTranspose"])
@pytest.mark.parametrize(
    ("weights", "group"),
    [((4, 3, 3), 2), ((4, 4, 3), 0), ((4, 4, 3), -1), ((4,), 1), ((4, 4), 1), ((4, 4, 1, 1), 1), ((5, 2, 3), 2), ((4, 4, 0), 1)],
)  # fmt: skip
def test_weights_of_a_convolution_fit_its_input(operator, weights, group):
    shape = (1, 4, 9) if operator == "Conv" else (1, 2, 9)
    node = NODE(operator, ["x", "w"], ["y"], name="it", group=group)
    made = model([node], {"x": shape}, w=np.ones(weights, np.float32))
    with pytest.raises(LowerError, match=rf"^node it \({operator}\): "):
        read(made)


@pytest.mark.parametrize("shape", [(0,), (3,), (5, 1, 5), (1, 1, 4, 5)])
@pytest.mark.parametrize("operator", ["Gemm", "LayerNormalization"])
def test_inputs_that_are_repeated_fit_the_result(operator, shape):
    """C of a Gemm and factors of a LayerNormalization can be repeated to the result's shape."""
    names, x = (["x", "w", "c"], (4, 5)) if operator == "Gemm" else (["x", "c"], (2, 4, 5))
    constants = {"w": np.ones((5, 5), np.float32), "c": np.ones(shape, np.float32)}
    made = model([NODE(operator, names, ["y"], name="it")], {"x": x}, **constants)
    with pytest.raises(LowerError, match=rf"^node it \({operator}\): a shape of \("):
        read(made)


@pytest.mark.parametrize("bias", [(), (1,), (1, 6), (3,)])
@pytest.mark.parametrize(
    ("operator", "weights"), [("Conv", (6, 2, 3)), ("ConvTranspose", (4, 3, 3))]
)
def test_a_bias_of_a_convolution_has_a_number_for_each_channel(operator, weights, bias):
    nodes = [NODE(operator, ["x", "w", "b"], ["y"], name="it", group=2)]
    constants = {"w": np.ones(weights, np.float32), "b": np.ones(bias, np.float32)}
    text = rf"^node it \({operator}\): its bias is not of shape \(6,\)$"
    with pytest.raises(LowerError, match=text):
        read(model(nodes, {"x": (1, 4, 9)}, **constants))
    constants["b"] = np.ones(6, np.float32)
    assert read(model(nodes, {"x": (1, 4, 9)}, **constants)).values["y"].shape[:2] == (1, 6)


@pytest.mark.parametrize("attributes", [{"strides": [4]}, {"output_padding": [1], "strides": [2]}])
def test_an_automatic_padding_with_two_meanings(attributes):
    """ONNX's text and onnxruntime give such a transposed convolution results of different sizes."""
    node = NODE("ConvTranspose", ["x", "w"], ["y"], name="it", auto_pad="SAME_UPPER", **attributes)
    made = model([node], {"x": (1, 1, 3)}, w=np.ones((1, 1, 3), np.float32))
    text = r"^node it \(ConvTranspose\): its auto_pad SAME_UPPER has two meanings: results of \("
    with pytest.raises(LowerError, match=text):
        read(made)


def test_a_slice_of_a_constant_may_begin_before_the_first_index():
    """With a negative step, ONNX takes the first index for a start before it."""
    bounds = {
        "a": np.array([-9, 0]),
        "b": np.array([-99, 2]),
        "c": np.array([1, 0]),
        "d": np.array([-1, 1]),
    }
    nodes = [NODE("Slice", ["k", *bounds], ["t"]), NODE("Add", ["x", "t"], ["y"])]
    made = model(nodes, {"x": (2, 1)}, k=np.arange(12).astype(np.float32).reshape(3, 4), **bounds)
    np.testing.assert_array_equal(read(made).values["t"].array, [[0], [4]])


@pytest.mark.parametrize("shape", [(2, 3), (2, 1, 3)])
def test_an_empty_list_of_axes_of_squeeze(shape):
    node = NODE("Squeeze", ["x", "axes"], ["y"], name="it")
    made = model([node], {"x": shape}, axes=np.zeros(0, np.int64))
    if 1 not in shape:
        assert read(made).values["y"].shape == shape
        return
    with pytest.raises(LowerError, match=r"node it \(Squeeze\): its list of axes is empty"):
        read(made)


@pytest.mark.parametrize(("made", "message"), REFUSED)
def test_refusals_name_the_place(made, message):
    with pytest.raises(LowerError, match=f"^{message}"):
        read(made)


def test_a_value_larger_than_the_memory():
    made = model([NODE("Relu", ["x"], ["y"])], {"x": (100,)})
    assert read(made, Wishes(room=Room(400, 4))).inputs == ("x",)
    with pytest.raises(
        LowerError, match=r"^the input x: 100 numbers take 400 bytes, external memory has 399$"
    ):
        read(made, Wishes(room=Room(399, 4)))


def test_of_many_names_a_hint_has_eight():
    """A hint names at most eight inputs, and at most eight dimensions."""
    made = model([NODE("Relu", ["x0"], ["y"])], {f"x{n}": (f"N{n}",) for n in range(10)})
    some = [", ".join(f"{letter}{n}" for n in range(8)) for letter in "xN"]
    for wishes, hint in (({"constants": ("z",)}, some[0]), ({"dims": {"z": 2}}, some[1])):
        with pytest.raises(
            LowerError, match=r"the model (has no input|calls no dimension) 'z'"
        ) as caught:
            read(made, Wishes(**wishes))
        assert caught.value.hint == f"there are {hint}"


def test_samples_of_the_inputs_after_those_that_are_constants():
    """Inputs with an initializer and inputs in `constants` have no samples; those after them do."""
    made = model(
        [NODE("Sum", ["x", "c", "y"], ["z"])], {"w": (2,), "c": (2,), "x": (2,), "y": (2,)}
    )
    made.graph.initializer.append(numpy_helper.from_array(np.zeros(2, np.float32), "w"))
    rows = np.arange(12, dtype=np.float32).reshape(2, 3, 2)
    assert random_sample(made, {}, ["c"]).keys() == {"x", "y"}
    large = model([NODE("Relu", ["x"], ["y"])], {"x": (1, 10**12)})
    with pytest.raises(LowerError, match=r"^the input x: 1,000,000,000,000 numbers take"):
        random_sample(large, {})
    first, *others = samples(made, dict(zip("xy", rows, strict=True)), {}, ["c"])
    assert {name: array.tolist() for name, array in first.items()} == {"x": [0, 1], "y": [6, 7]}
    assert len(others) == 2


def test_the_hint_about_an_unknown_size_names_the_dimension():
    """Only a dimension with a name can be given a size."""
    made = model([NODE("Relu", ["x"], ["y"])], {"x": (1, "rows")})
    for name, what, hint in (
        ("rows", "rows", "--dim rows=N, dims={'rows': N}"),
        ("", "dimension 1", ""),
    ):
        made.graph.input[0].type.tensor_type.shape.dim[1].dim_param = name
        with pytest.raises(LowerError, match=f"the input x has no size for {what}$") as error:
            random_sample(made, {})
        assert error.value.hint == hint


def test_constants_of_old_models_are_inputs():
    """Constants of files up to version 3 must also be inputs, by ONNX's rule; the hint says so."""
    made = model([NODE("Mul", ["x", "w"], ["y"])], {"x": (2,)}, {"y": ((2,), 1)}, w=np.ones(2))
    made.ir_version = 3
    with pytest.raises(LowerError) as error:
        check(made, "old.onnx")
    assert str(error.value) == "old.onnx is no ONNX model"
    assert error.value.hint == "w in initializer but not in graph input"


@pytest.mark.parametrize(
    ("node", "hint"),
    [
        (NODE("Wave", ["x"], ["y"], "it"), "node it (Wave): No Op registered for Wave with domain_version of 21"),
        (NODE("Wave", ["x"], ["y"]), "a node Wave: No Op registered for Wave with domain_version of 21"),
        (NODE("Relu", ["x"], ["y"], "a b", slope=1), "node a b (Relu): Unrecognized attribute: slope for operator Relu"),
        (NODE("Relu", ["z"], ["y"], "it"), "Nodes in a graph must be topologically sorted, however input 'z' of node: name: it OpType: Relu is not output of any previous nodes."),
    ],
)  # fmt: skip
def test_the_node_of_a_mistake_that_the_checker_finds(node, hint):
    with pytest.raises(LowerError, match=r"^the model is no ONNX model$") as error:
        check(model([node], {"x": (2,)}))
    assert error.value.hint == hint


def test_a_slice_of_an_early_operator_set_may_have_axes_in_any_order():
    made = model(
        [NODE("Slice", ["x"], ["y"], axes=[2, 0], starts=[1, 0], ends=[3, 1])],
        {"x": (2, 3, 4)},
        version=9,
    )
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.testing.assert_array_equal(outputs_of(made, x=x)[0], x[:1, :, 1:3])


def test_a_transpose_of_a_single_number_in_an_early_operator_set():
    made = model(
        [NODE("Transpose", ["x"], ["t"]), NODE("Relu", ["t"], ["y"])], {"x": ()}, version=11
    )
    assert outputs_of(made, x=np.float32(3))[0] == 3


def test_normalisations_without_a_rule_for_shapes_are_refused_as_unknown():
    made = model(
        [NODE("MeanVarianceNormalization", ["x"], ["y"], "norm")], {"x": (1, 2, 3, 3)}, version=9
    )
    message = r"^node norm \(MeanVarianceNormalization\): the reference evaluator does not compute"
    with pytest.raises(LowerError, match=message):
        outputs_of(made)
