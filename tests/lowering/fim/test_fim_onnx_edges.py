"""Unusual ONNX models: training, masks, empty tensors, old operator sets, damaged models."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import macaw
from macaw.lowering.errors import LowerError
from macaw.lowering.fim.graph import GATHER, POINTWISE, SCATTER
from macaw.lowering.fim.onnx_graph import read
from macaw.lowering.fim.onnx_values import Values
from macaw.lowering.onnx.model_file import parse
from macaw.lowering.onnx.values import Room
from tests.lowering.fim.onnx_models import (
    check_outputs,
    model,
    model_of_node,
    random_numbers,
    task_kinds,
)

pytestmark = pytest.mark.once

NODE = helper.make_node


def older(made, version):
    """The model in an older operator set, which onnxruntime accepts."""
    made.opset_import[0].version = version
    return made


@pytest.mark.parametrize(
    ("ratio", "training"), [(0.5, False), (0.0, True)], ids=["not training", "nothing dropped"]
)
def test_dropout_outside_training_is_its_input(ratio, training):
    nodes = [
        NODE("Dropout", ["x", "r", "t"], ["d", "kept"]),
        NODE("Where", ["kept", "one", "r"], ["m"]),
        NODE("Mul", ["d", "m"], ["y"]),
    ]
    constants = {"r": np.float32(ratio), "t": np.bool_(training), "one": np.float32(1)}
    assert task_kinds(check_outputs(model(nodes, {"x": (4, 4)}, **constants))) == [POINTWISE]


@pytest.mark.parametrize("ratio", ["r", ""])
def test_dropout_in_training_is_refused(ratio):
    """Dropout in training mode is refused (F16).

    It drops numbers at random, which no other run repeats.
    """
    node = NODE("Dropout", ["x", ratio, "t"], ["y"], name="it")
    made = model([node], {"x": (4, 4)}, r=np.float32(0.5), t=np.bool_(True))
    with pytest.raises(LowerError, match=r"node it \(Dropout\): in training mode it drops numbers"):
        read(made, form=0)


def test_a_mask_as_output_is_refused():
    node = NODE("Dropout", ["x"], ["y", "z"])
    made = model([node], {"x": (4, 4)}, ["y", "z"])
    made.graph.output[1].type.tensor_type.elem_type = TensorProto.BOOL
    with pytest.raises(LowerError, match="the output z does not depend on any input"):
        read(made, form=0)


def test_a_part_without_numbers_beside_others():
    """A Slice past the end gives no elements, and a Concat ignores the empty tensor (F17)."""
    nodes = [
        NODE("Slice", ["x", "s", "e"], ["none"]),
        NODE("Relu", ["none"], ["still"]),
        NODE("Concat", ["still", "x"], ["both"], axis=0),
        NODE("Relu", ["both"], ["y"]),
    ]
    assert task_kinds(
        check_outputs(model(nodes, {"x": (4, 4)}, s=np.array([5]), e=np.array([9])))
    ) == [POINTWISE]


@pytest.mark.parametrize("version", [9, 10])
def test_pad_before_operator_set_11(version):
    node = NODE("Pad", ["x"], ["y"], pads=[0, 1, 0, 1], name="it")
    assert task_kinds(check_outputs(older(model([node], {"x": (2, 3)}), version))) == [SCATTER]
    node = NODE("Pad", ["x"], ["y"], pads=[0, 1, 0, 1], value=2.0, name="it")
    with pytest.raises(LowerError, match=r"node it \(Pad\): a frame of other numbers than zeros"):
        read(older(model([node], {"x": (2, 3)}), version), 0)


def test_scatter_until_operator_set_10():
    """Scatter of operator set 10 is read as ScatterElements, its newer name (F19)."""
    node = NODE("Scatter", ["x", "i", "u"], ["y"], axis=1)
    constants = {"i": np.array([[1], [3]]), "u": random_numbers(2, 1)}
    assert task_kinds(check_outputs(older(model([node], {"x": (4, 4)}, **constants), 10))) == [
        SCATTER
    ]
    node = NODE("Scatter", ["x", "i", "u"], ["y"], name="it")
    with pytest.raises(LowerError, match=r"node it \(Scatter\): operator set 13 no longer has"):
        read(older(model([node], {"x": (4, 4)}, **constants), 13), 0)


@pytest.mark.parametrize("index", [3, -4, 1 << 62, -1 << 63])
def test_an_index_outside_its_axis(index):
    """An index outside its axis is refused, however large it is.

    ONNX's reference adds the axis' size again and again: the largest index would take years.
    """
    node = NODE("GatherElements", ["x", "i"], ["y"], axis=1, name="it")
    made = model([node], {"x": (2, 3)}, i=np.array([[0], [index]]))
    message = r"node it \(GatherElements\): an index is outside of -3 to 2, the range of axis 1"
    with pytest.raises(LowerError, match=message):
        read(made, form=0)
    check_outputs(model([node], {"x": (2, 3)}, i=np.array([[2], [-3]])))


@pytest.mark.parametrize("kind", ["Concat", "GatherElements"])
def test_an_axis_that_the_inputs_do_not_have(kind):
    """An axis that the inputs do not have is refused.

    ONNX's own rules take the lower 32 bits of the number: here they are -1, the last axis.
    """
    axis = -(1 << 51) - 1
    node = NODE(kind, ["x", "x" if kind == "Concat" else "i"], ["y"], axis=axis, name="it")
    made = model([node], {"x": (2, 3)}, i=np.array([[0], [1]]))
    with pytest.raises(LowerError, match=rf"node it \({kind}\): there is no axis {axis} of 2"):
        read(made, form=0)


def test_a_scalar_is_a_tensor_of_one_number():
    made = model([NODE("MatMul", ["a", "b"], ["y"])], {"a": (16,), "b": (16,)})
    check_outputs(made)
    x = np.arange(16) / 8
    measured = macaw.lower_graph(made).measure({"a": x, "b": x})
    assert measured.outputs["y"].shape == (1,)
    assert measured.outputs["y"][0] == np.float16(x @ x)


def initial(kind, **more):
    """A product whose weights have the type `kind`, with other fields changed."""
    made = model(
        [NODE("MatMul", ["x", "w"], ["y"], name="it")], {"x": (2, 16)}, w=random_numbers(16, 8)
    )
    made.graph.initializer[0].data_type = kind
    for name, value in more.items():
        setattr(made.graph.initializer[0], name, value)
    return made


def declared(made, *shape):
    """The model with a declared shape of its output."""
    kind = helper.make_tensor_type_proto(TensorProto.FLOAT, shape)
    made.graph.output[0].type.CopyFrom(kind)
    return made


def sized(*shape):
    return model([NODE("Relu", ["x"], ["y"])], {"x": shape})


NEW = onnx.defs.onnx_opset_version()
MALFORMED = [
    (initial(TensorProto.UINT8), "the initializer w: "),
    (initial(99), "the initializer w is of type 99, which is not read"),
    (initial(TensorProto.STRING), "the initializer w: "),
    (initial(TensorProto.INT32), r"node it \(MatMul\): ONNX's rules refuse it: B has inconsistent type tensor\(int32\)"),
    (model([NODE("Gemm", ["x", "x", "c"], ["y"], transB=1, name="it")], {"x": (2, 16)}, c=random_numbers(8)), r"node it \(Gemm\): "),
    (sized(2**63 - 1), "the input x: 9,223,372,036,854,775,807 numbers take"),
    (sized(2**31, 2**31, 2**31), "the input x: .* external memory has"),
    (model([NODE("ConstantOfShape", ["x"], ["y"], name="it")], {"x": (16,)}), r"node it \(ConstantOfShape\): ONNX's rules refuse it: input typestr"),
    (declared(sized(16, 8), 1, 8), r"the output y is of \(16, 8\), the model says \(1, 8\)"),
    (declared(sized(16, 8), "n"), r"the output y is of \(16, 8\), the model says \(\?\)"),
    (older(sized(4), 6), f"the model is of operator set 6; sets 7 to {NEW} are read"),
    (older(sized(4), NEW + 1), f"the model is of operator set {NEW + 1}; sets 7 to {NEW} are read"),
    (model_of_node("Relu", ("nowhere",)), r"node it \(Relu\): nothing makes its input nowhere"),
    (model_of_node("Conv", ("x", "w"), (1, 1, 4, 4), {"w": random_numbers(1, 1, 3, 3)}, pads=[10**6] * 4, strides=[10**6] * 2), r"node it \(Conv\): .* external memory has"),
    (model_of_node("Conv", ("x", "w"), (1, 1, 4, 4), {"w": random_numbers(1, 1, 3, 3)}, kernel_shape=[2, 2]), r"node it \(Conv\): a kernel_shape of \[2, 2\]"),
    (model_of_node("GRU", ("x", "w", "r"), (2, 1, 2), {"w": random_numbers(1, 3, 2), "r": random_numbers(1, 6, 2)}, hidden_size=2), r"node it \(GRU\): W has the shape \(1, 3, 2\), not \(1, 6, 2\)"),
    (model_of_node("Expand", ("x", "s"), constants={"s": np.array([10**6, 10**6, 4, 4])}), r"node it \(Expand\): 16,000,000,000,000 numbers take"),
    (model_of_node("Tile", ("x", "s"), constants={"s": np.array([10**5, 10**5])}), r"node it \(Tile\): "),
    (model([NODE("ConstantOfShape", ["s"], ["c"], name="it"), NODE("Add", ["x", "c"], ["y"])], {"x": (1,)}, s=np.array([10**6] * 2)), r"node it \(ConstantOfShape\): "),
    (model([NODE("RandomNormalLike", ["c"], ["r"], name="it"), NODE("Add", ["x", "r"], ["y"])], {"x": (4,)}, c=random_numbers(4)), r"node it \(RandomNormalLike\): no task of the islands does it"),
    (model([NODE("Identity", ["c"], ["r"]), NODE("Add", ["x", "r"], ["y"], name="it")], {"x": (4,)}, c=np.array(["a"] * 4, object)), r"node it \(Add\): "),
]  # fmt: skip


@pytest.mark.parametrize(("made", "message"), MALFORMED)
def test_malformed_models_are_refused_in_a_sentence(made, message):
    with pytest.raises(LowerError, match=message):
        read(made, form=0, room=256 << 20)


def test_names_are_printed_safely():
    made = model_of_node("Erf")
    made.graph.node[0].name = "a\x1b[31m\n" + "b" * 100
    with pytest.raises(LowerError) as caught:
        read(made, form=0)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 150


def test_a_tensor_may_be_called_as_the_program_calls_its_labels():
    """A tensor may have the name `b0`, which is also the label of a table in the program."""
    made = model([NODE("Relu", ["b0"], ["f0"])], {"b0": (3, 4)}, ["f0"])
    found = macaw.lower_graph(made)
    x = random_numbers(3, 4).astype(np.float16)
    run = macaw.run(found.assemble(), vb0=x)
    np.testing.assert_array_equal(run.outputs["vf0"], np.maximum(x, 0))


@pytest.mark.parametrize("side", [2000, pytest.param(4000, marks=pytest.mark.long)])
def test_transposing_millions_of_numbers_is_lean(side):
    """Transposing millions of numbers needs little memory (F18).

    One array has the places of all numbers, and the copies are counted without a list of them.
    """
    made = model([NODE("Transpose", ["x"], ["y"])], {"x": (side, side)})
    tracemalloc.start()
    found = macaw.lower_graph(made)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 16 * side * side
    (step,) = found.plan.steps
    assert step.option.island is None
    assert task_kinds(found.graph) == [GATHER]


def test_copies_without_end_are_refused():
    order = np.random.default_rng(1).permutation(200_000)
    made = model([NODE("Gather", ["x", "i"], ["y"])], {"x": (200_000,)}, i=order)
    with pytest.raises(macaw.InputError, match="nothing can do y = gather from x") as caught:
        macaw.lower_graph(made)
    assert caught.value.hint == "its numbers go by more than 100,000 copies of the dma"


def test_constants_are_computed_within_limits():
    nodes = [NODE("MatMul", ["c", "c"], ["d"], name="it"), NODE("Add", ["x", "e"], ["y"])]
    nodes.insert(1, NODE("ReduceSum", ["d"], ["e"], keepdims=0))
    made = model(nodes, {"x": (1,)}, c=np.ones((2000, 2000), np.float32))
    with pytest.raises(LowerError, match=r"node it \(MatMul\): for the constants of a model at"):
        read(made, form=0)


def test_a_size_is_known_though_its_tensor_is_not():
    nodes = [
        NODE("Size", ["x"], ["n"]),
        NODE("Cast", ["n"], ["f"], to=TensorProto.FLOAT),
        NODE("Div", ["x", "f"], ["y"]),
    ]
    assert task_kinds(check_outputs(model(nodes, {"x": (3, 5)}))) == [POINTWISE]


def test_old_slices_squeezes_and_splits_have_attributes():
    nodes = [
        NODE("Slice", ["x"], ["a"], starts=[1], ends=[3], axes=[0]),
        NODE("Unsqueeze", ["a"], ["b"], axes=[0]),
        NODE("Squeeze", ["b"], ["c"], axes=[0]),
        NODE("Split", ["c"], ["d", "e"], axis=1, split=[1, 3]),
        NODE("Concat", ["e", "d"], ["y"], axis=1),
    ]
    check_outputs(older(model(nodes, {"x": (4, 4)}), 9))


def test_array_of_a_model_made_by_hand_is_checked():
    made = model_of_node("Relu")
    made.graph.node[0].op_type = ""
    with pytest.raises(macaw.InputError, match="the model is no ONNX model"):
        macaw.lower_graph(made)
    assert numpy_helper.to_array(numpy_helper.from_array(random_numbers(2))).shape == (2,)


def test_indices_of_another_rank():
    """Indices of another rank than the input are refused, although ONNX's checker accepts them."""
    node = NODE("GatherElements", ["x", "i"], ["y"], axis=0, name="it")
    made = model([node], {"x": (6,)}, i=np.zeros((2, 2), np.int64))
    with pytest.raises(LowerError, match=r"its indices have 2 dimensions, its input 1"):
        read(made, form=0)


def test_an_empty_result_with_a_size_that_no_array_has():
    node = NODE("DepthToSpace", ["x"], ["y"], blocksize=(1 << 31) - 1, name="it")
    made = model([node], {"x": (7, 2, 4, 4)})
    with pytest.raises(
        LowerError, match=r"its result is of \(7, 0, \d+, \d+\), which is too large"
    ):
        read(made, form=0)


def test_a_name_that_is_no_text():
    data = model([NODE("Relu", ["x1"], ["y"])], {"x1": (2, 3)}).SerializeToString()
    with pytest.raises(LowerError, match=r"a\.onnx is no ONNX model") as caught:
        parse(data.replace(b"x1", b"\xf61"), Path("a.onnx"))
    assert caught.value.hint == "a name in it is not UTF-8"


def test_a_name_with_a_tab_is_shown_in_one_line():
    made = model([NODE("Relu", ["x"], ["y"])], {"x": (2, 3)})
    made.graph.output[0].name = "a\tb"
    with pytest.raises(LowerError) as caught:
        parse(made.SerializeToString(), Path("a.onnx"))
    assert caught.value.hint == "Graph output 'a b' is not an output of any node in graph."
    made = model(
        [NODE("Dropout", ["x", "", "t"], ["y"], name="i\tt")], {"x": (4, 4)}, t=np.bool_(True)
    )
    with pytest.raises(LowerError, match=r"node i\\tt \(Dropout\)"):
        read(made, form=0)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.array(["a", "b"]), "a constant of <U1, not of numbers"),
        (np.array([1.0, 1e5]), "the constant 100000 is too large for fp16"),
        (np.array([1.0, np.inf]), ""),
    ],
    ids=["text", "too large", "infinite"],
)
def test_constants_that_are_no_numbers_of_the_format(array, message):
    values = Values(0, Room(1000, 2), 20)
    if not message:
        assert values.tensor(values.array(array), "c").columns == 2
        return
    with pytest.raises(LowerError, match=f"^{message}$"):
        values.tensor(values.array(array), "c")
