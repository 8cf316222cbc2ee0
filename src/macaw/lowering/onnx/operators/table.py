"""All operators by name, and the evaluation of one node."""

from __future__ import annotations

import numpy as np
from onnx import helper

from macaw.lowering.errors import LowerError
from macaw.lowering.onnx.graph import Node
from macaw.lowering.onnx.operators.elementwise import ELEMENTWISE, Array, Arrays, Operator
from macaw.lowering.onnx.operators.images import IMAGES
from macaw.lowering.onnx.operators.movement import CONCAT, MOVEMENT
from macaw.lowering.onnx.operators.quantisation import QUANTISATION
from macaw.lowering.onnx.operators.recurrent import RECURRENT

OPERATORS: dict[str, Operator] = {
    **ELEMENTWISE, **IMAGES, **MOVEMENT, "Concat": CONCAT, **RECURRENT, **QUANTISATION,
}  # fmt: skip
_MISFITS = (ValueError, TypeError, IndexError, KeyError, ZeroDivisionError, OverflowError)
TYPES = "biuf"  # kinds of NumPy types that can be computed


def check_operator(node: Node) -> None:
    """Raise `LowerError` if no rule computes a node's operator."""
    if node.operator not in OPERATORS:
        raise LowerError("the reference evaluator does not compute it")


def compute(node: Node, arrays: Arrays) -> list[Array]:
    """Return the results of a node of operator set 21 on `arrays`.

    Raises `LowerError` for an operator or a variant that is not computed, and for inputs that do
    not fit.
    """
    check_operator(node)
    try:
        with np.errstate(all="ignore"):
            results = OPERATORS[node.operator](node, arrays)
    except LowerError:
        raise
    except _MISFITS:  # errors that ONNX's rules do not find and NumPy does
        raise LowerError("its inputs and attributes do not fit together") from None
    # the range of an activation that `fuse` has added to the node
    clip = node.attributes.get("activation_range")
    if clip is not None:
        low, high = (results[0].dtype.type(bound) for bound in clip)
        results = [np.fmin(np.fmax(results[0], low), high), *results[1:]]
    return [np.asarray(result) for result in results]


def dtype_of(element: int) -> np.dtype[np.generic]:
    """Return NumPy's type of a `TensorProto.DataType`.

    Raises `LowerError` if it is neither a boolean nor an integer nor a real type of NumPy.
    """
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(element))
    if dtype.kind not in TYPES:
        raise LowerError(f"numbers of the type {dtype} are not computed")
    return dtype
