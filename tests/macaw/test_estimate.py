"""`macaw.estimate` and `macaw estimate`: the cycles of a model without a program or a run."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path

import numpy as np
import onnx
import pytest

import macaw
from macaw.isa.config import load
from macaw.networks import report as network_report
from tests.lowering.net.models import ModelBuilder, float_model, residual_model
from tests.lowering.onnx.models import NODE
from tests.lowering.onnx.models import model as onnx_model
from tests.macaw.command_runs import run_here

pytestmark = pytest.mark.once


# A row of one cluster: the compiler compares fewer plans.
NARROW = load("tiny").changed({"pe.rows": 1, "pe.clusters": 1})


def command(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return run_here(("estimate", *words), cwd)


def refused_model() -> onnx.ModelProto:
    """A model of a convolution, a LogSoftmax, which no core computes, and a convolution."""
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.conv("first", 4, 3)
    builder.value = builder.node("LogSoftmax", [builder.value], "soft", axis=1)
    builder.quantise("soft", 2.0**-6)
    builder.conv("second", 4, 3)
    return builder.model()


def test_the_predictions_are_those_of_compile():
    estimate = macaw.estimate(residual_model(), device=NARROW, name="network")
    compiled = macaw.compile(residual_model(), device=NARROW)
    assert estimate.layers == compiled.layers
    assert estimate.cycles == sum(layer.predicted for layer in compiled.layers)
    assert estimate.is_complete
    assert estimate.is_calibrated
    assert network_report.summary(estimate) == network_report.summary(compiled)


def test_a_floating_point_model_costs_what_it_costs_with_integers():
    """The estimate of a floating-point model is that of its quantised model.

    Scales do not change it: each scale is a power of two for all samples.
    """
    model = float_model()
    estimate = macaw.estimate(model, device=NARROW, dims={"rows": 5})
    data = np.random.default_rng(3).uniform(-9, 9, (4, 2, 5, 9)).astype(np.float32)
    quantised = macaw.quantise(model, data)
    compiled = macaw.compile(quantised.model, device=NARROW)
    assert [layer.operator for layer in estimate.layers] == ["conv 3×3", "conv 3×3", "sum"]
    for guess, layer in zip(estimate.layers, compiled.layers, strict=True):
        assert (guess.name, guess.predicted) == (layer.name, layer.predicted)
    assert not estimate.is_calibrated
    assert "one sample of random numbers" in network_report.summary(estimate)[-1]


def test_the_other_layers_of_a_model_with_a_refused_node():
    estimate = macaw.estimate(refused_model(), device=NARROW)
    assert [layer.name for layer in estimate.layers] == [
        "/first/Conv", "first_dq", "/soft_q/QuantizeLinear", "/second/Conv",
    ]  # fmt: skip
    ((name, operator, reason),) = [(x.name, x.operator, x.reason) for x in estimate.refusals]
    assert (name, operator) == ("/soft/LogSoftmax", "LogSoftmax")
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(refused_model(), device=NARROW)
    assert str(caught.value) == f"node {name} ({operator}): {reason}"
    assert not estimate.is_complete
    assert repr(estimate).endswith("4 layers, 1 node refused>")
    builder = ModelBuilder(0, (1, 3, 8, 8))
    builder.conv("first", 4, 3)
    alone = macaw.estimate(builder.model(), device=NARROW)
    assert estimate.layers[0] == alone.layers[0]


def test_a_layer_without_a_plan_is_refused_alone():
    small = NARROW.changed({"mem.external_bytes": 1 << 20})
    builder = ModelBuilder(0, (1, 3, 600, 600))
    builder.conv("large", 1, 1, stride=300)
    builder.conv("small", 2, 1)
    estimate = macaw.estimate(builder.model(), device=small)
    assert [layer.name for layer in estimate.layers] == ["/small/Conv"]
    (refusal,) = estimate.refusals
    assert (refusal.name, refusal.operator) == ("/large/Conv", "Conv")
    assert refusal.reason.startswith("activations and results are 1,080,004 bytes")
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device=small)
    assert str(caught.value) == f"layer {refusal.name}: {refusal.reason}"


def test_layers_that_do_not_fit_together():
    """An estimate refuses layers whose packets do not fit together.

    Packets of six layers and a tile do not fit in halves of 1 KiB.
    """
    small = NARROW.changed({"mem.unit_half_bytes": 1024})
    builder = ModelBuilder(0, (1, 1, 2, 2))
    for number in range(6):
        builder.conv(f"c{number}", 1, 1)
    estimate = macaw.estimate(builder.model(), device=small)
    assert len(estimate.layers) == 6
    assert not estimate.refusals
    with pytest.raises(macaw.InputError) as caught:
        macaw.compile(builder.model(), device=small)
    assert estimate.problem == str(caught.value)
    assert not estimate.is_complete
    assert "would not accept the model: the packets" in network_report.summary(estimate)[-1]


def test_the_command(tmp_path):
    builder = ModelBuilder(0, (1, 1, 4, 4))
    builder.conv("only", 2, 1)
    onnx.save(builder.model(), tmp_path / "m.onnx")
    done = command("m.onnx", "--device", "tiny", cwd=tmp_path)
    assert done.returncode == 0
    assert "/only/Conv" in done.stdout
    assert "1 layer," in done.stdout
    rows = json.loads(command("m.onnx", "--device", "tiny", "--json", cwd=tmp_path).stdout)
    assert rows["calibrated"] is True
    assert rows["refusals"] == []
    text = command("m.onnx", "--csv", "--device", "tiny", cwd=tmp_path).stdout
    (row,) = csv.DictReader(io.StringIO(text))
    assert int(row["predicted"]) == rows["layers"][0]["predicted"] == rows["cycles"]


def test_the_command_lists_refused_nodes(tmp_path):
    builder = ModelBuilder(0, (1, 2, 2, 2))
    builder.value = builder.node("LogSoftmax", [builder.value], "soft", axis=1)
    onnx.save(builder.model(), tmp_path / "m.onnx")
    done = command("m.onnx", cwd=tmp_path)
    assert done.returncode == 1
    assert "refused: node /soft/LogSoftmax (LogSoftmax): it computes real numbers" in done.stdout
    assert "1 node refused: `macaw compile` would not accept the model" in done.stdout
    done = command("m.onnx", "--csv", cwd=tmp_path)
    assert "LogSoftmax" not in done.stdout
    assert "refused: node /soft/LogSoftmax" in done.stderr
    (refusal,) = json.loads(command("m.onnx", "--json", cwd=tmp_path).stdout)["refusals"]
    assert refusal["hint"] == ""  # the model is quantised already


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["none.onnx"], "none.onnx"),
        (["f.onnx"], "the input x has no size for rows\nhint: --dim rows=N, dims={'rows': N}"),
        (["f.onnx", "--dim", "rows"], "--dim 'rows' is not of the form NAME=N"),
        (["f.onnx", "--dim", "rows=9", "--dim", "N=2"], "the model calls no dimension 'N'"),
        (["f.onnx", "--device", "none"], "none"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_the_command_refuses(tmp_path, arguments, text):
    onnx.save(float_model(), tmp_path / "f.onnx")
    done = command(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert text in done.stderr


def test_a_list_without_elements_as_attribute():
    """A Transpose of a single number may have an empty `perm`."""
    turn = NODE("Transpose", ["x"], ["t"], "turn")
    turn.attribute.add(name="perm", type=onnx.AttributeProto.INTS)
    made = onnx_model([turn, NODE("Relu", ["t"], ["y"], "relu")], {"x": ()})
    assert [layer.name for layer in macaw.estimate(made, device=NARROW).layers] == ["relu"]
