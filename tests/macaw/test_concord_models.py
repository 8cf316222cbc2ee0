"""ONNX models that generated software builds, and quantised data sets."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import macaw
from macaw.asm.source import Source
from macaw.concordance.concordance import Concordance
from macaw.debugger.session import Session
from macaw.execution import configuration_of

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
LSTM = ROOT / "programs/nnp_lstm/nnp_lstm.s"
DENSE = """
        .device tiny
        .setting nnp.quantise, "{kind}"
        .setting nnp.vector_bits, 8
        .setting nnp.matrix_bits, 4
        .setting nnp.mx_block, 2
        .input  x, float16, 4, 4, at=netin
        .output y, float16, 2, 4, at=netout
        .core   nnp
        .hint   tensor W, MatrixRf, 0, 3, 6
        .hint   tensor x, NetInQ, 0, 2, 6
        .hint   tensor y, NetOutQ, 0, 2, 3
        SetCols(2)
        m_rd    Dram, 0
        m_wr    MatrixRf, 0
        SetIterations(2)
        v_rd    NetInQ
        mv_mul  0
        v_relu
        v_wr    NetOutQ
        end_chain
        .data
        .float16 1, 2, 3, 4, -1, -2, -3, -4, 5, 6, 7, 8, 0, 0, 0, 0
        .float16 9, 1, 0, 0, -9, 1, 0, 0, 3, 1, 0, 0, 0, 0, 0, 0
"""


def file_of(software: Concordance) -> dict[str, Any]:
    """The names that the generated file defines, after running it."""
    space: dict[str, Any] = {"__name__": "layer"}
    exec(software.text, space)
    return space


def dense(kind: str = "bfp", target: str = "numpy") -> Concordance:
    return macaw.concord(macaw.assemble(Source(DENSE.format(kind=kind), "dense.s")), target)


def sizes(values: Any) -> dict[str, list[int | str]]:
    return {
        value.name: [x.dim_param or x.dim_value for x in value.type.tensor_type.shape.dim]
        for value in values
    }


def test_sequences_of_any_length_and_weights_that_stay(tmp_path: Path) -> None:
    """An LSTM's model with its weights takes sequences of any length (seed 003 ¶29, ¶66).

    The program has five steps; the model computes eight.
    """
    import onnxruntime

    short = macaw.concord(LSTM, "onnx")
    weights = short.weights()
    assert set(short.inputs) - set(weights) == {"x"}
    model = file_of(short)["model"](weights)
    onnx.checker.check_model(model)
    assert sizes(model.graph.input) == {"x": ["steps", 5]}
    assert sizes(model.graph.output) == {"y": ["steps", 6]}
    folder = shutil.copytree(LSTM.parent, tmp_path / "lstm")
    text = LSTM.read_text().replace(".equ    STEPS, 5", ".equ    STEPS, 8")
    (folder / LSTM.name).write_text(text)
    long = macaw.concord(folder / LSTM.name)
    x = np.random.default_rng(2).normal(size=(8, 5)).astype(np.float16)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    (y,) = session.run(None, {"x": x})
    assert y.tobytes() == long.emulate({**weights, "x": x})["y"].tobytes()


def test_operations_are_local_functions_with_their_instructions() -> None:
    model = file_of(macaw.concord(LSTM, "onnx"))["model"]()
    functions = {function.name: function for function in model.functions}
    assert {"quantise", "quantise_matrix", "mv_mul", "vv_add", "v_sigm", "v_tanh"} <= set(functions)
    assert functions["mv_mul"].doc_string == (
        "Exact products, summed in BFP long (q34.40 and an exponent), rounded once."
    )
    (scan,) = [item for item in model.graph.node if item.op_type == "Scan"]
    body = onnx.helper.get_node_attr_value(scan, "body")
    products = [x for x in (*model.graph.node, *body.node) if x.op_type == "mv_mul"]
    assert len(products) == 11  # x and h for four gates, and three peepholes
    lines = LSTM.read_text().splitlines()
    for item in products:
        (number,) = re.findall(r"^nnp_lstm\.s:(\d+): mv_mul \d+$", item.doc_string)
        assert re.search(r"mv_mul|GATE|gate|product", lines[int(number) - 1]), lines[
            int(number) - 1
        ]


def test_a_layer_without_loops_takes_any_number_of_rows() -> None:
    software = dense(target="onnx")
    space = file_of(software)
    model = space["model"]()
    assert sizes(model.graph.input) == {"W": [3, 6], "x": ["steps", 6]}
    fixed = space["model"]({"W": np.zeros((3, 6)), "x": np.zeros((2, 6))})
    assert (sizes(fixed.graph.input), sizes(fixed.graph.output)) == ({}, {"y": [2, 3]})
    with pytest.raises(ValueError, match="the layer has no tensor V; it has W, x"):
        space["model"]({"V": np.zeros(3)})


def test_rows_that_depend_on_one_another_are_a_fixed_number() -> None:
    """If rows of an input depend on one another (windows of an image), their number is fixed."""
    model = file_of(macaw.concord(ROOT / "programs/nnp_conv3x3/nnp_conv3x3.s", "onnx"))["model"]()
    assert sizes(model.graph.input)["x"] == [30, 4]


@pytest.mark.parametrize("kind", ["bfp", "int", "log", "float", "mx"])
def test_quantised_data(kind: str) -> None:
    """Quantised data have the emulator's codes (seed 003 ¶28, ¶68).

    The emulator and the generated software give the same results for these data.
    """
    software = dense(kind)
    weights = software.weights()["W"]
    x = np.random.default_rng(1).normal(size=(2, 6)) * 4
    found = software.quantised({"W": weights.astype(np.float64), "x": x})
    program = macaw.assemble(Source(DENSE.format(kind=kind), "dense.s"))
    inputs = {"x": np.zeros((4, 4), np.float16)}
    session = Session(program, configuration_of(program), inputs, "reference")
    session.cont()
    state = session.device.cores["nnp"].state
    codes = state.tile_codes[:2].transpose(1, 0, 2)[:3]
    exponents = np.moveaxis(state.tile_exponents[:2], 1, 0)[:3].astype(int)
    assert found["W"].codes.tolist() == codes.tolist()
    bias = 127 if kind == "mx" else 15
    assert found["W"].exponents.tolist() == (exponents - bias).tolist()
    assert found["x"].codes.shape == (2, 2, 4)
    assert found["x"].values.shape == (2, 6)
    again = software.quantised({"x": found["x"].values})["x"]
    assert again.values.tolist() == found["x"].values.tolist()
    data = {name: tensor.values for name, tensor in found.items()}
    assert software.check(data) is None


def test_data_that_cannot_be_quantised() -> None:
    software = dense()
    with pytest.raises(macaw.InputError, match="the layer has no input 'V'"):
        software.quantised({"V": np.zeros((3, 6))})
    with pytest.raises(macaw.InputError, match="W is"):
        software.quantised({"W": np.zeros((3, 5))})
    with pytest.raises(macaw.InputError, match="W has a NaN, which no quantiser takes"):
        software.quantised({"W": np.full((3, 6), np.nan)})
