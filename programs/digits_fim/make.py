"""Write the digits network as an ONNX file, from the weights of programs/digits_nnp.

    python programs/digits_fim/make.py

Needs NumPy and onnx. The same versions give the same bytes each time.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / "digits_nnp"))
import reference  # noqa: E402 - it lies in the folder that the line above adds

IMAGES = 80  # of a run
SIZES = (64, 64, 64, 10)


def model() -> onnx.ModelProto:
    """The network over both halves of the images, three layers each; weights are fp16 numbers."""
    weights, biases = reference.load()
    constants = []
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        outputs = SIZES[layer + 1]
        for name, array in (("w", weight[:outputs]), ("b", bias[:outputs])):
            constants.append(numpy_helper.from_array(array.astype(np.float32), f"{name}{layer}"))
    nodes = [
        helper.make_node("Split", ["x"], ["left0", "right0"], axis=0),
        *layers("left"),
        *layers("right"),
        helper.make_node("Concat", ["left3", "right3"], ["y"], axis=0),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [IMAGES, SIZES[0]])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [IMAGES, SIZES[-1]])],
        constants,
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(made, full_check=True)
    return made


def layers(half: str) -> Iterator[onnx.NodeProto]:
    """The nodes of one half: Gemm, with Relu between them."""
    count = len(SIZES) - 1
    for layer in range(count):
        x, y = f"{half}{layer}", f"{half}{layer + 1}"
        last = layer == count - 1
        total = y if last else f"{half}_sum{layer}"
        yield helper.make_node("Gemm", [x, f"w{layer}", f"b{layer}"], [total], transB=1)
        if not last:
            yield helper.make_node("Relu", [total], [y])


def main() -> None:
    """Write digits.onnx."""
    onnx.save(model(), HERE / "digits.onnx")


if __name__ == "__main__":
    main()
