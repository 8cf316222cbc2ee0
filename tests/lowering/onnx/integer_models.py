"""Models whose layers compute on integers, and the search for their layer."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from macaw.lowering.onnx.network import FloatLayer
from tests.lowering.onnx.models import NODE, model
from tests.lowering.onnx.running import network_of

INT8, UINT8, INT16 = TensorProto.INT8, TensorProto.UINT8, TensorProto.INT16
F32 = np.float32
SCALES = {
    "xs": F32(0.02),
    "zs": F32(0.013),
    "ys": F32(0.05),
    "xz": np.int8(3),
    "zz": np.int8(-4),
    "yz": np.int8(5),
}


def quantised(nodes, shapes, version=21, dtype="int8", **constants):
    """A model with integers x and z, dequantised to a and b; its result c is quantised to y."""
    element = {"int8": INT8, "int16": INT16}[dtype]
    names = [name for name in ("x", "z") if name in shapes]
    scales = {
        name: np.asarray(value, dtype if name[1] == "z" else F32) for name, value in SCALES.items()
    }
    before = [
        NODE("DequantizeLinear", [name, f"{name}s", f"{name}z"], ["a" if name == "x" else "b"])
        for name in names
    ]
    after = NODE("QuantizeLinear", ["c", "ys", "yz"], ["y"])
    return model(
        [*before, *nodes, after],
        {name: (shapes[name], element) for name in names},
        {"y": (None, element)},
        version,
        **{**scales, **constants},
    )


def the_layer(made, kind):
    """Return the only layer of this kind; other layers are identities, which only name tensors."""
    network = network_of(made)
    (layer,) = [
        layer
        for layer in network.layers
        if isinstance(layer, kind) and layer.operator != "Identity"
    ]
    assert not [layer for layer in network.layers if isinstance(layer, FloatLayer)]
    return layer
