"""What lowering says about random layers for the array is recorded (`tests/recorded.py`)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from macaw.layer_lowering import Lowering
from macaw.lowering.errors import LowerError
from macaw.lowering.layer_source import layer_source
from tests.lowering.random_layers import chosen, outcome
from tests.recorded import check

pytestmark = pytest.mark.once
HERE = Path(__file__).parent / "recorded"
GROUPS, EACH = 12, 7  # seeds


@pytest.mark.few(2)
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_layers(group: int) -> None:
    """Refusals, candidates in their order with all predictions, reasons, files and sources."""
    seeds = range(group * EACH, (group + 1) * EACH)
    check(HERE / f"layers-{group}.txt", {str(seed): outcome(seed) for seed in seeds})


@pytest.mark.parametrize("seed", [1, 14, 15, 23])
def test_bytes_of_random_layers_are_exact(seed: int) -> None:
    """The emulator counts the predicted bytes, and its results equal NumPy's."""
    made, product, choice = chosen(seed)
    program = layer_source(choice.selection.plan, "p", choice.reasons())
    lowering = Lowering("p", product, made.config, choice, program)
    measured = lowering.measure()
    assert measured.equal
    assert measured.external_bytes == lowering.cost.traffic.external
    assert np.isclose(measured.cycles, lowering.cost.cycles, rtol=0.3)


def test_a_refused_layer_stays_refused() -> None:
    with pytest.raises(LowerError):
        chosen(2)
