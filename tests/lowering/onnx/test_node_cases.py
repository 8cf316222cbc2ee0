"""ONNX's own tests of operators give right results, or are refused in one sentence."""

from __future__ import annotations

import re
import warnings
from collections import Counter

import numpy as np
import onnx
import pytest

from macaw.isa.config import load
from macaw.lowering.errors import LowerError
from macaw.lowering.net.assign import assign
from macaw.lowering.onnx.canonical import canonical
from macaw.lowering.onnx.fuse import fuse
from macaw.lowering.onnx.layers import layers
from macaw.lowering.onnx.read import Wishes, read
from macaw.lowering.onnx.reference import evaluate

BASE = load("base")


def frozen(made, inputs):
    """The graph; if a shape depends on an input, all inputs except the first become constants."""
    shapes = {name: array.shape for name, array in inputs.items()}
    try:
        return canonical(read(made, Wishes(shapes=shapes)))
    except LowerError:
        constants = dict(list(inputs.items())[1:])
        rest = {name: shape for name, shape in shapes.items() if name not in constants}
        return canonical(read(made, Wishes(shapes=rest, constants=constants)))


def check_assignment(network, arrays, found):
    """If `macaw compile` accepts a network, the rewritten network has the same outputs."""
    try:
        model = assign(network, BASE, "case").model
    except LowerError as error:
        assert str(error).isprintable()
        return
    again = evaluate(model, {name: arrays[name] for name in model.inputs})
    for name in network.outputs:
        np.testing.assert_array_equal(again[name], found[name])


def compare(made, inputs, outputs):
    """Test a case; raise `LowerError` if it is refused, AssertionError if it is wrong."""
    initial = {row.name for row in made.graph.initializer}
    names = [row.name for row in made.graph.input if row.name not in initial]
    if not all(isinstance(array, np.ndarray) for array in inputs):
        raise LowerError("an input is no tensor")
    arrays = dict(zip(names, inputs, strict=False))
    network = layers(fuse(frozen(made, arrays)))
    found = evaluate(network, {name: arrays[name] for name in network.inputs})
    check_assignment(network, arrays, found)
    for name, wanted in zip(network.outputs, outputs, strict=True):
        if isinstance(wanted, onnx.TensorProto):  # integers of 4 bits
            wanted = onnx.numpy_helper.to_array(wanted)
        wanted = np.asarray(wanted)
        assert (found[name].shape, found[name].dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(
            found[name].astype(float), wanted.astype(float), rtol=1e-3, atol=1e-5
        )


@pytest.mark.long  # ONNX takes ten seconds to make its cases; test_operators has one of each operator
def test_none_is_wrong_and_none_a_crash():
    from onnx.backend.test.case.node import collect_testcases

    answers: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in collect_testcases(None):
            if case.model is None:
                continue
            try:
                for inputs, outputs in case.data_sets or ():
                    compare(case.model, inputs, outputs)
                answers["right"] += 1
            except LowerError as error:
                assert str(error).isprintable()
                answers["refused"] += 1
                reasons[re.sub(r"^(a )?node .*?\(?(\w+)\)?: ", r"\2: ", str(error))] += 1
    print(answers, *reasons.most_common(), sep="\n")
    assert answers["right"] >= 800
