"""Lets ONNX's reference evaluator compute RNN, GRU and LSTM with the activations of a model."""

from __future__ import annotations

from typing import Any

import onnx
from numpy.typing import NDArray
from onnx.reference.op_run import OpRun

from macaw.lowering.onnx.graph import node_of
from macaw.lowering.onnx.operators.table import compute


class _Recurrent(OpRun):
    """A recurrent operator, as Macaw's own operators compute it."""

    op_domain = ""

    def _run(self, *arrays: NDArray[Any] | None, **_attributes: Any) -> tuple[NDArray[Any], ...]:
        return tuple(compute(node_of(self.onnx_node), arrays))


def operators(model: onnx.ModelProto) -> list[type[OpRun]]:
    """Return the operators that ONNX's reference evaluator must take from here for a model.

    They are those with the attribute `activations`, which the evaluator does not know or ignores.
    """
    names = {
        node.op_type
        for node in model.graph.node
        if any(attribute.name == "activations" for attribute in node.attribute)
    }
    return [type(name, (_Recurrent,), {}) for name in sorted(names)]
