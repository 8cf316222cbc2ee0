"""Random ONNX models on islands are exact or refused; predictions have small errors."""

import re

import pytest

from macaw.isa.fim_circuit import FORMAT_NAMES, FORMATS
from tests.lowering.fim.random_onnx import checked

pytestmark = pytest.mark.usefixtures("short_search")

REFUSAL = re.compile(r"node \S+ \(\w+\): ")


@pytest.mark.few(5)
@pytest.mark.parametrize("seed", [3, 9, 12, 15, 23, 27, 36, 596])
def test_a_random_model_is_exact(seed):
    """A random model has exact results, and takes exactly the predicted cycles."""
    outcome = checked(seed)
    assert not outcome.refusal
    assert outcome.predicted == outcome.cycles


@pytest.mark.parametrize("seed", [3, 23, 596])
def test_a_random_model_is_exact_in_bf16(seed):
    """In bf16 both engines give the exact results, in exactly the predicted cycles."""
    outcome = checked(seed, FORMATS[FORMAT_NAMES.index("bf16")])
    assert not outcome.refusal
    assert outcome.predicted == outcome.cycles


@pytest.mark.long
def test_a_thousand_random_models():
    outcomes = [checked(seed) for seed in range(1000)]
    exact = [outcome for outcome in outcomes if not outcome.refusal]
    assert len(exact) >= 990
    assert all(REFUSAL.match(outcome.refusal) for outcome in outcomes if outcome.refusal)
    off = sorted(outcome.off for outcome in exact)
    assert off[-1] < 0.02
