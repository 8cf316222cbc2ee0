"""programs/network: its ONNX model of the digits network, quantised and compiled, is right."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import onnx
import pytest

import macaw
from macaw.lowering.onnx import reference

FOLDER = Path(__file__).resolve().parents[2] / "programs" / "network"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    spec = importlib.util.spec_from_file_location("network_build", FOLDER / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def network() -> macaw.CompiledNetwork:
    made = macaw.load_network(FOLDER / "net")
    assert isinstance(made, macaw.CompiledNetwork)
    return made


def test_the_models_are_those_of_the_script(build):
    kept = onnx.load(FOLDER / "digits.onnx")
    assert kept == build.model()
    np.testing.assert_array_equal(np.load(FOLDER / "images.npy"), build.images()[-64:])
    np.testing.assert_array_equal(np.load(FOLDER / "image.npy"), build.images()[:1])
    quantised = macaw.quantise(kept, build.images()[-build.CALIBRATION :])
    assert quantised.model == onnx.load(FOLDER / "digits_int8.onnx")


def test_it_reads_the_digits(build, network):
    """The quantised network reads 393 of 400 images right; the integers of digits_cnn read 394."""
    labels = np.load(build.TRAINED / "labels.npy")
    read = [
        int(reference.evaluate(network.network, {"image": image[None]})["digit"].argmax())
        for image in build.images()
    ]
    assert np.count_nonzero(read == labels) == 393


def test_each_layer_is_right_on_the_device(build, network):
    image = build.images()[:1]
    run = network.run(image=image)
    assert [layer.equal for layer in run.layers] == [True] * 4
    (pixels,) = network.device_inputs({"image": image}).values()
    np.testing.assert_array_equal(np.load(FOLDER / "pixels.npy")[0], pixels)
