"""Infers types and shapes of a node's results by ONNX's own rules, without computing them.

The rules also refuse inputs, attributes and types that the operator does not accept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx
from onnx import helper, numpy_helper, shape_inference

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.model_file import reason
from macaw.lowering.onnx.values import Value
from macaw.lowering.onnx.window import SAME, output_sizes, transposed_window, window_of

STANDARD = ("", "ai.onnx")  # domains of ONNX's own operators
OLDEST = 7  # earlier operator sets have other rules for broadcasting
_TOLD = 64  # the most numbers of a constant that the rules may read: sizes and axes
_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip
# Operators whose attribute `axis` or `axes` has axes of the first input. The rules of some versions
# do not check that the input has these axes.
_OF_FIRST = frozenset((
    *_REDUCTIONS, "ArgMax", "ArgMin", "Hardmax", "LayerNormalization", "LogSoftmax",
    "LpNormalization", "MeanVarianceNormalization", "Softmax", "Squeeze",
))  # fmt: skip
_IN_SECOND = frozenset((*_REDUCTIONS, "CumSum", "Squeeze"))  # the second input has the axes
# by convolution: the places of weights and bias among its inputs
_WEIGHTS_AND_BIAS = {"Conv": (1, 2), "ConvTranspose": (1, 2), "QLinearConv": (3, 8)}
# by operator: the first of the inputs that are repeated to the shape of the result
_REPEATED = {"Gemm": 2, "LayerNormalization": 1}
_POOLS = ("AveragePool", "MaxPool")
_SLICE = ("axes", "ends", "starts")  # attributes of a Slice of an early operator set
# operators whose result has the shape of the first input, for which ONNX has no rule
_SAME_SHAPE = ("GroupNormalization", "MeanVarianceNormalization")
_SHARES = ("Hardmax", "LogSoftmax", "Softmax")


class RulesError(LowerError):
    """ONNX's rules refuse a node with its inputs and attributes."""


class Form(NamedTuple):
    """The element type (`TensorProto.DataType`) of a result, and its shape if known."""

    element: int
    shape: tuple[int, ...] | None

    @property
    def numbers(self) -> int:
        """The number of elements; 0 if the shape is unknown."""
        return 0 if self.shape is None else math.prod(self.shape)

    @property
    def empty(self) -> bool:
        """Whether the shape is known and has no elements."""
        return self.shape is not None and 0 in self.shape


def opset(model: onnx.ModelProto) -> int:
    """Return the version of the ONNX operator set that a model uses.

    Raises `LowerError` if the model names none or several, or one that is not read.
    """
    versions = [row.version for row in model.opset_import if row.domain in STANDARD]
    if len(versions) != 1:
        raise LowerError("the model does not name exactly one ONNX operator set")
    newest = onnx.defs.onnx_opset_version()
    if not OLDEST <= versions[0] <= newest:
        raise LowerError(
            f"the model is of operator set {versions[0]}; sets {OLDEST} to {newest} are read"
        )
    return int(versions[0])


def results(
    node: onnx.NodeProto, inputs: Sequence[Value | None], version: int
) -> list[Form | None]:
    """Return type and shape of each output of a node; None for an unnamed output.

    `version` is the version of ONNX's operator set. Raises `LowerError` if ONNX's rules refuse the
    node, and if a result is no tensor.
    """
    constants = {name: x for name, x in zip(node.input, inputs, strict=True) if x is not None}
    types = {
        name: helper.make_tensor_type_proto(x.element, list(x.shape))
        for name, x in constants.items()
    }
    data = {
        name: numpy_helper.from_array(np.asarray(x.array), name)
        for name, x in constants.items()
        if x.array is not None and x.array.size <= _TOLD
    }
    try:
        schema = onnx.defs.get_schema(node.op_type, version, "")
        if schema.deprecated:
            raise LowerError(f"operator set {version} no longer has this operator")
        forms = shape_inference.infer_node_outputs(
            schema, _with_sorted_axes(node), types, data,
            opset_imports=[helper.make_opsetid("", version)],
        )  # fmt: skip
    except LowerError:
        raise
    except Exception as error:  # exceptions of the schema, the checker and the inference
        raise RulesError(f"ONNX's rules refuse it: {reason(error)}") from None
    _check_axes(node, inputs, version)
    _check_convolution(node, inputs)
    if node.op_type == "Clip" and any(x is not None and math.prod(x.shape) > 1 for x in inputs[1:]):
        raise LowerError("its limits must be single numbers")
    found = [_form(forms.get(name)) if name else None for name in node.output]
    found[:1] = [_completed(node, inputs, found[0])]
    _check_repeated(node, inputs, found[0])
    if node.op_type == "ConvTranspose":
        _check_transposed(node, inputs, found[0])
    return _pooled(node, inputs[0], found) if node.op_type in _POOLS else found


def _form(kind: onnx.TypeProto | None) -> Form:
    if kind is None or not kind.HasField("tensor_type"):
        raise LowerError("a result is no tensor")
    tensor = kind.tensor_type
    if not tensor.HasField("shape"):
        return Form(tensor.elem_type, None)
    sizes = tensor.shape.dim
    if not all(size.HasField("dim_value") for size in sizes):
        return Form(tensor.elem_type, None)
    shape = tuple(int(size.dim_value) for size in sizes)
    if min(shape, default=0) < 0:
        raise LowerError(f"its result would be of {shape}")
    return Form(tensor.elem_type, shape)


def _with_sorted_axes(node: onnx.NodeProto) -> onnx.NodeProto:
    """Return a Slice of an early operator set with its axes in ascending order; else the node.

    ONNX's rules for these operator sets know the size of the result only for this order.
    """
    rows = {row.name: list(row.ints) for row in node.attribute if row.name in _SLICE}
    if node.op_type != "Slice" or len({len(row) for row in rows.values()}) != 1 or len(rows) < 3:
        return node
    order = np.argsort(rows["axes"], kind="stable")
    ordered = onnx.NodeProto()
    ordered.CopyFrom(node)
    for row in ordered.attribute:
        if row.name in rows:
            row.ints[:] = [rows[row.name][place] for place in order]
    return ordered


def _completed(
    node: onnx.NodeProto, inputs: Sequence[Value | None], form: Form | None
) -> Form | None:
    """Return the form of a node's result, with its shape if ONNX's rules do not know the shape.

    These are nodes whose result has the shape of their first input.
    """
    x = inputs[0] if inputs else None
    if form is None or form.shape is not None or x is None:
        return form
    keeps = node.op_type in _SAME_SHAPE or (node.op_type == "Transpose" and not x.shape)
    return Form(form.element, x.shape) if keeps else form


def _pooled(node: onnx.NodeProto, x: Value | None, forms: list[Form | None]) -> list[Form | None]:
    """Return the forms of a pool's results, without windows that begin after the image.

    With `ceil_mode`, ONNX's rules count some of these windows, although ONNX defines that a pool
    leaves them out, as onnxruntime does.
    """
    attributes = {row.name: helper.get_attribute_value(row) for row in node.attribute}
    if x is None or not attributes.get("ceil_mode", 0):
        return forms
    if "auto_pad" in attributes:
        attributes["auto_pad"] = attributes["auto_pad"].decode(errors="replace")
    image = x.shape[2:]
    sizes = output_sizes(window_of(attributes, image, attributes["kernel_shape"]), image)
    return [form and Form(form.element, (*x.shape[:2], *sizes)) for form in forms]


def _check_axes(node: onnx.NodeProto, inputs: Sequence[Value | None], version: int) -> None:
    """Raise `LowerError` if a node names axes that its first input does not have."""
    first = inputs[0] if inputs else None
    if first is None:
        return
    kind, rank = node.op_type, len(first.shape)
    axes = [-1] if kind in ("BatchNormalization", "LayerNormalization", "LpNormalization") else []
    if kind in _SHARES:
        axes = [1 if version < 13 else -1]  # the default changed in operator set 13
    if kind in _OF_FIRST:
        for row in node.attribute:
            if row.name in ("axis", "axes"):
                axes = list(row.ints) if row.type == onnx.AttributeProto.INTS else [row.i]
    second = inputs[1] if len(inputs) > 1 else None
    if kind in _IN_SECOND and second is not None and second.array is not None:
        axes = [int(axis) for axis in second.array.reshape(-1)]
        if kind == "Squeeze" and not axes and 1 in first.shape:
            # ONNX's rules keep all axes then; onnxruntime removes those of length 1
            raise LowerError("its list of axes is empty, which has two meanings")
    for axis in axes:
        check_axis(axis, rank)


def _check_convolution(node: onnx.NodeProto, inputs: Sequence[Value | None]) -> None:
    """Raise `LowerError` if a convolution has weights or a bias that do not fit its input."""
    places = _WEIGHTS_AND_BIAS.get(node.op_type)
    if places is None:
        return
    x, weights, bias = (inputs[n] if n < len(inputs) else None for n in (0, *places))
    if x is None or weights is None:
        return
    if not len(weights.shape) == len(x.shape) >= 2:
        raise LowerError(f"weights {weights.shape} for the image {x.shape}")
    groups = next((row.i for row in node.attribute if row.name == "group"), 1)
    outputs, channels = weights.shape[0], weights.shape[1] * groups
    if node.op_type == "ConvTranspose":
        outputs, channels = channels, outputs
    empty = 0 in weights.shape
    if groups < 1 or x.shape[1] != channels or weights.shape[0] % groups or empty:
        raise LowerError(f"weights {weights.shape} in {groups} groups for the image {x.shape}")
    if bias is not None and bias.shape != (outputs,):
        raise LowerError(f"its bias is not of shape ({outputs},)")


def _check_transposed(
    node: onnx.NodeProto, inputs: Sequence[Value | None], form: Form | None
) -> None:
    """Raise `LowerError` if `auto_pad` of a ConvTranspose has two meanings.

    ONNX's text says that the result has input size · stride elements, ONNX's rules compute other
    sizes if the kernel is smaller than the stride, or if there is an `output_padding`.
    """
    attributes = {row.name: helper.get_attribute_value(row) for row in node.attribute}
    auto = attributes.get("auto_pad", b"NOTSET").decode(errors="replace")
    x, weights = inputs[:2]
    if auto not in SAME or x is None or weights is None or form is None or form.shape is None:
        return
    attributes["auto_pad"] = auto
    _, sizes = transposed_window(attributes, x.shape[2:], weights.shape[2:])
    if sizes != form.shape[2:]:
        raise LowerError(
            f"its auto_pad {auto} has two meanings: results of {sizes} and of {form.shape[2:]}",
            "pads",
        )


def _check_repeated(
    node: onnx.NodeProto, inputs: Sequence[Value | None], form: Form | None
) -> None:
    """Raise `LowerError` if an input that is repeated to the shape of the result does not fit it.

    Such inputs are C of a Gemm, and the factors and offsets of a LayerNormalization.
    """
    first = _REPEATED.get(node.op_type)
    if first is None or form is None or form.shape is None:
        return
    for shape in (value.shape for value in inputs[first:] if value is not None):
        pairs = zip(form.shape[::-1], shape[::-1], strict=False)
        if len(shape) > len(form.shape) or any(size not in (1, whole) for whole, size in pairs):
            raise LowerError(f"a shape of {shape} cannot be repeated to {form.shape}")


def check_axis(axis: int, rank: int) -> None:
    """Raise `LowerError` unless a tensor with `rank` axes has the axis; it may be negative."""
    if not -rank <= axis < rank:
        raise LowerError(f"there is no axis {axis} of {rank}")
