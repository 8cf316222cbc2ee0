"""`--data` of `macaw compile` and `macaw estimate`: predictions that count zeros of activations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import macaw as api
from benchmarks.networks import light
from macaw.isa.config import load
from macaw.lowering.net.densities import shares, with_shares
from macaw.lowering.net.network import NetTensor, Network
from tests.lowering.net.models import float_model
from tests.macaw.conftest import Macaw
from tests.macaw.sparse_networks import images, sparse_model

pytestmark = pytest.mark.once

ROOT = Path(__file__).parents[2]
TINY = ("--device", "tiny")


def test_the_mean_share_of_some_runs() -> None:
    tensors = {name: NetTensor(name, "int8", (4,)) for name in ("a", "b", "c")}
    network = Network("n", tensors, (), (), (), densities={"b": 0.25, "c": 0.5})
    runs = [{"a": np.array([1, 0, 0, 0]), "b": np.arange(4), "other": np.ones(1)},
            {"a": np.array([1, 1, 1, 0]), "b": np.arange(4)}]  # fmt: skip
    counted = with_shares(network, (shares(network.tensors, run) for run in runs))
    assert counted.densities == {"a": 0.5, "b": 0.75, "c": 0.5}


def test_predictions_are_nearer_to_the_cycles() -> None:
    data = images(6)
    dense, counted = (api.compile(sparse_model(), device="tiny", data=x) for x in (None, data))
    errors = []
    for network in (dense, counted):
        run = network.run(x=data[-1:])
        assert all(layer.equal for layer in run.layers)
        predicted = sum(layer.predicted for layer in network.layers)
        errors.append(predicted / sum(layer.cycles for layer in run.layers) - 1)
    assert errors[0] > 0.2
    assert abs(errors[1]) < 0.1
    estimated = api.estimate(sparse_model(), device="tiny", data=data)
    assert [x.predicted for x in estimated.layers] == [x.predicted for x in counted.layers]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_squeezenet_as_the_page_says() -> None:
    case = light("squeezenet", 0.0)
    model = api.quantise(case.model, case.samples[1:]).model
    predicted = [api.estimate(model, data=data).cycles for data in (None, case.samples[:1])]
    text = (ROOT / "docs" / "networks.md").read_text("utf-8").replace("\n", " ")
    dense, counted = (f"{cycles:,}" for cycles in predicted)
    assert f"{dense} are predicted without samples, {counted} with one" in text


def test_a_model_of_real_numbers_is_quantised_with_the_data() -> None:
    data = np.random.default_rng(1).uniform(-2, 2, (8, 2, 4, 9)).astype(np.float32)
    device, dims = load("tiny").changed({"pe.rows": 1, "pe.clusters": 1}), {"rows": 4}
    found = api.estimate(float_model(), device=device, dims=dims, data=data)
    assert found.is_calibrated
    quantised = api.quantise(float_model(), data, dims=dims)
    assert found.cycles == api.estimate(quantised.model, device=device, data=data).cycles
    assert not api.estimate(float_model(), device=device, dims=dims).is_calibrated


def test_commands_take_the_data(macaw: Macaw, tmp_path: Path) -> None:
    onnx.save(sparse_model(), tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", images(2))
    dense = json.loads(macaw("estimate", "m.onnx", *TINY, "--json").stdout)["cycles"]
    for words in (["x.npy"], ["x=x.npy"]):
        done = macaw("estimate", "m.onnx", *TINY, "--data", *words, "--json")
        counted = json.loads(done.stdout)["cycles"]
        assert counted < 0.9 * dense
    words = ["--data", "x.npy", "-o", "net", "--report", "json"]
    done = macaw("compile", "m.onnx", *TINY, *words)
    assert sum(x["predicted"] for x in json.loads(done.stdout)["layers"]) == counted


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((2, 8, 3, 12), np.float32), "a sample of the input 'x' is 1 × 8 × 3 × 12; the model takes 1 × 8 × 12 × 12"),
        (np.zeros((2, 2), np.float32), "the data of the input x: an array of the shape (2, 2)"),
        ({"y": np.zeros(3)}, "the model has no input 'y'"),
    ],
)  # fmt: skip
def test_wrong_data(data: Any, message: str) -> None:
    for function in (api.compile, api.estimate):
        with pytest.raises(api.InputError) as error:
            function(sparse_model(), data=data)
        assert str(error.value) == message


def test_nnp_does_not_skip_zeros() -> None:
    with pytest.raises(api.InputError) as error:
        api.compile(float_model(), dims={"rows": 6}, core="nnp", data=np.zeros(1))
    assert str(error.value) == "nnp does not skip zeros: `data` is for a quantised model"
