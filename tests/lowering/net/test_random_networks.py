"""Random small networks for random devices: exact in every tensor, or refused with a reason."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import macaw
from macaw.lowering.onnx.reference import evaluate
from tests.lowering.net.random_networks import random_device, random_input, random_model
from tests.lowering.onnx.running import network_of

REASONS = re.compile(r"^(node|layer) .+: .+|^the output .+ is a constant$")


def compiled(seed: int) -> macaw.CompiledNetwork | str:
    """The compiled network of a seed, or the text of the error."""
    try:
        return macaw.compile(random_model(seed), device=random_device(seed))
    except macaw.InputError as error:
        assert REASONS.match(str(error)), str(error)
        return str(error)


def with_sample(seed: int) -> macaw.CompiledNetwork:
    """The network of a seed, compiled for the input that `check` runs, to predict its zeros."""
    model = random_model(seed)
    data = random_input(model, seed)
    return macaw.compile(model, device=random_device(seed), data=data)


def check(seed: int, network: macaw.CompiledNetwork) -> float:
    """Run the network of a seed; compare all tensors with those that `evaluate` computes.

    Return the predicted cycles of all layers, divided by their measured cycles.
    """
    model = random_model(seed)
    x = {"x": random_input(model, seed)}
    run = network.run(x)
    assert [layer.report.name for layer in run.layers if not layer.equal] == []
    expected = evaluate(network_of(model), x)
    for name, output in run.outputs.items():
        np.testing.assert_array_equal(output, expected[name], err_msg=name)
    for name in run.tensors.keys() & expected.keys():
        if run.tensors[name].dtype == expected[name].dtype:  # sums of an output are integers
            np.testing.assert_array_equal(run.tensors[name], expected[name], err_msg=name)
    predicted = sum(layer.report.predicted for layer in run.layers)
    return predicted / sum(layer.cycles for layer in run.layers)


@pytest.mark.usefixtures("few_plans")
@pytest.mark.parametrize("seed", [46, 71, 122])
def test_a_network_is_exact(seed):
    network = compiled(seed)
    assert isinstance(network, macaw.CompiledNetwork), network
    assert check(seed, network) == pytest.approx(1, abs=0.15)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_three_hundred_networks():
    answers: Counter[str] = Counter()
    plain, counted = list[float](), list[float]()  # without and with a sample, which has zeros
    for seed in range(300):
        network = compiled(seed)
        if isinstance(network, str):
            answers[re.sub(r"\d+", "N", network.split(": ", 1)[-1])] += 1
            continue
        answers["exact"] += 1
        plain.append(abs(check(seed, network) - 1))
        counted.append(abs(check(seed, with_sample(seed)) - 1))
    print(*answers.most_common(), sep="\n")
    for errors, words in ((plain, "without"), (counted, "with")):
        median, worst = np.median(errors), max(errors)
        print(f"errors of predictions {words} a sample: median {median:.1%}, worst {worst:.1%}")
        assert median <= 0.05
    assert answers["exact"] >= 280
    assert sum(error > 0.15 for error in plain) <= 3  # they do not count zeros after a ReLU
    assert max(counted) <= 0.15
