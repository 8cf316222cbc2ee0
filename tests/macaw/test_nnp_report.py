"""Reports of models on nnp from hand-written layers and runs: each number, column and row."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from macaw.networks import nnp_report
from macaw.networks.nnp_network import NnpLayer, NnpRun

USED = {"MatrixRf": (1200, 4096), "MultiplyVrf": (0, 256), "AddSubVrf0": (2, 256)}
NETWORK: Any = SimpleNamespace(
    name="net",
    config=SimpleNamespace(name="tiny"),
    layers=(NnpLayer("[b]gate", "LSTM", (3, 1500), 1200, 1), NnpLayer("out", "Add", (7,), 0, 12)),
    lowered=SimpleNamespace(instructions=1234, used=USED),
)
# y is 0.25 too great in its second element; z, the smaller one, is equal
RUN = NnpRun({"y": np.array([[1, -3.25]], np.float16), "z": np.array([0.5], np.float32)}, 12345, {})
EXPECTED = {"y": np.array([[1, -3.0]], np.float32), "z": np.array([0.5])}


def test_records() -> None:
    assert nnp_report.records(NETWORK) == [
        {"name": "[b]gate", "operator": "LSTM", "shape": [3, 1500], "tiles": 1200, "steps": 1},
        {"name": "out", "operator": "Add", "shape": [7], "tiles": 0, "steps": 12},
    ]
    assert nnp_report.comparison(RUN, EXPECTED) == [
        {"name": "y", "shape": [1, 2], "greatest": 3.0, "error": 0.25},
        {"name": "z", "shape": [1], "greatest": 0.5, "error": 0.0},
    ]


def test_an_error_is_not_rounded_to_the_type_of_the_output() -> None:
    run = NnpRun({"y": np.array([60000], np.float16)}, 1, {})  # 60000 is one of float16's numbers
    (row,) = nnp_report.comparison(run, {"y": np.array([-60000.5])})
    assert (row["greatest"], row["error"]) == (60000.5, 120000.5)


@pytest.mark.parametrize("is_run", [False, True])
def test_json(capsys: pytest.CaptureFixture[str], is_run: bool) -> None:
    of_all = {"network": "net", "device": "tiny", "core": "nnp"}
    if is_run:
        nnp_report.print_run(NETWORK, RUN, EXPECTED, "json")
        wanted = {**of_all, "cycles": 12345, "outputs": nnp_report.comparison(RUN, EXPECTED)}
    else:
        nnp_report.print_report(NETWORK, "json")
        used = {name: list(pair) for name, pair in USED.items()}
        wanted = {
            **of_all, "instructions": 1234, "memories": used, "layers": nnp_report.records(NETWORK)
        }  # fmt: skip
    text = capsys.readouterr().out
    assert json.loads(text) == wanted
    assert text.startswith('{\n "network": "net",\n')


def test_csv(capsys: pytest.CaptureFixture[str]) -> None:
    nnp_report.print_report(NETWORK, "csv")
    assert capsys.readouterr().out == (
        "name,operator,shape,tiles,steps\n[b]gate,LSTM,3x1500,1200,1\nout,Add,7,0,12\n"
    )


def test_the_table_of_layers(capsys: pytest.CaptureFixture[str]) -> None:
    """A memory that the model does not use is not listed."""
    nnp_report.print_report(NETWORK, "table")
    assert capsys.readouterr().out.splitlines() == [
        "layer    operation  output    tiles  steps",
        "[b]gate  LSTM       3 × 1500  1,200      1",
        "out      Add        7             0     12",
        "2 layers, 1,234 instructions",
        "MatrixRf 1,200 of 4,096, AddSubVrf0 2 of 256",
    ]


def test_a_model_that_uses_no_memory_has_no_line_of_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lowered = SimpleNamespace(instructions=1, used={"MatrixRf": (0, 64)})
    network: Any = SimpleNamespace(layers=NETWORK.layers[:1], lowered=lowered)
    nnp_report.print_report(network, "table")
    assert capsys.readouterr().out.splitlines()[2:] == ["1 layer, 1 instructions"]


def test_the_table_of_outputs(capsys: pytest.CaptureFixture[str]) -> None:
    expected = {**EXPECTED, "z": np.array([0.512345678])}
    nnp_report.print_run(NETWORK, RUN, expected, "table")
    assert capsys.readouterr().out.splitlines() == [
        "output  shape  greatest  largest error",
        "y       1 × 2         3           0.25",
        "z       1        0.5123        0.01235",
        "12,345 cycles; errors are differences from ONNX's reference in floating point",
    ]
