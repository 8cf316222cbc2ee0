"""Write the ONNX model of the digits network, give it integers, and compile it.

    python programs/network/build.py     # writes the models, net/ and the .npy files

The weights are those that programs/digits_cnn has trained, as real numbers. Needs macaw-npu[onnx].
"""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

import macaw

FOLDER = Path(__file__).resolve().parent
TRAINED = FOLDER.parent / "digits_cnn"
UNIT = 2.0**-7  # real number of a weight's integer
CALIBRATION = 64  # images, the last of the test set
RUN = 8  # images of the golden test

Array = npt.NDArray[Any]


def images() -> Array:
    """Return the test images, float32 (400, 1, 8, 8), pixels 0 to 16."""
    pixels = np.load(TRAINED / "images.npy", allow_pickle=False)
    return np.moveaxis(pixels, -1, 1).astype(np.float32)


def model() -> onnx.ModelProto:
    """Return the network with real numbers: input `image` (1, 1, 8, 8), output `digit` (1, 10)."""
    layers = tomllib.loads((TRAINED / "network.toml").read_text("utf-8"))["layer"]
    nodes, constants = [], []
    value, unit = "image", 1.0  # unit: the real number of an integer of the layer's input
    for layer in layers:
        name, kind = layer["name"], layer["kind"]
        weights = np.load(TRAINED / f"{name}_w.npy", allow_pickle=False)
        bias = np.load(TRAINED / f"{name}_b.npy", allow_pickle=False) * (UNIT * unit)
        inputs, groups = [value, f"{name}_w", f"{name}_b"], 1
        if kind == "dense":  # its inputs are in the order (row, column, channel)
            nodes.append(helper.make_node("Flatten", [value], ["flat"], "flatten"))
            weights = weights.reshape(10, 4, 4, 16).transpose(0, 3, 1, 2).reshape(10, 256)
            inputs[0] = "flat"
            nodes.append(helper.make_node("Gemm", inputs, ["digit"], "dense", transB=1))
        else:
            if kind == "depthwise":
                weights, groups = weights[:, None], len(weights)
            else:
                weights = np.moveaxis(weights, -1, 1)
            sides: dict[str, Any] = {
                "pads": [layer["padding"]] * 4,
                "strides": [layer["stride"]] * 2,
            }
            nodes.append(
                helper.make_node("Conv", inputs, [f"{name}_sums"], name, group=groups, **sides)
            )
            value = f"{name}_out"
            nodes.append(helper.make_node("Relu", [f"{name}_sums"], [value], f"{name}_relu"))
            unit *= UNIT * 2.0 ** layer["shift"]
        for suffix, numbers in (("w", weights * UNIT), ("b", bias)):
            constants.append(
                numpy_helper.from_array(numbers.astype(np.float32), f"{name}_{suffix}")
            )
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 1, 8, 8])
    digit = helper.make_tensor_value_info("digit", TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "digits", [image], [digit], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])
    made.ir_version = 10
    return made


def main() -> None:
    """Write the models, the compiled network and the images."""
    onnx.save(model(), FOLDER / "digits.onnx")
    np.save(FOLDER / "images.npy", images()[-CALIBRATION:])
    np.save(FOLDER / "image.npy", images()[:1])
    quantised = macaw.quantise(FOLDER / "digits.onnx", images()[-CALIBRATION:])
    quantised.write(FOLDER / "digits_int8.onnx")
    network = macaw.compile(quantised.model, name="digits")
    network.write(FOLDER / "net")
    pixels = [network.device_inputs({"image": image[None]}) for image in images()[:RUN]]
    (name,) = pixels[0]
    np.save(FOLDER / "pixels.npy", np.stack([each[name] for each in pixels]))


if __name__ == "__main__":
    main()
