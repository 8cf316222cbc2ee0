"""Fig. 8's product in nine splits and three mappings on `tiny` has the slices of Fig. 9."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import macaw
from macaw.emu.pe.delivery import ExeDelivery
from macaw.isa import config
from macaw.layer_lowering import lower
from macaw.lowering import reference
from macaw.lowering.mapping import MAPPINGS
from macaw.lowering.operation import Product
from macaw.lowering.partition import SPLITS
from tests.lowering.figure_9 import CLUSTERS, operand_ranges

PAGE = (Path(__file__).parents[2] / "docs" / "lowering.md").read_text("utf-8")
TINY = config.load("tiny")
# All numbers differ, so a number says which element it is.
X = np.arange(1, 33, dtype=np.int8).reshape(4, 8)  # (m, k)
W = np.arange(1, 65, dtype=np.int8).reshape(8, 8)  # (n, k)

Seen = dict[tuple[int, int, str], set[int]]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """The contents of weight queues and input buffers of each cluster, after each segment."""
    found: Seen = defaultdict(set)
    deliver = ExeDelivery.deliver

    def watch(self: ExeDelivery, *arguments: Any) -> None:
        deliver(self, *arguments)
        state, shape = self.units.context.state, self.units.context.shape
        for q in range(shape.clusters):
            found[shape.row, q, "I"] |= set(state.activations[q].reshape(-1).tolist()) - {0}
            found[shape.row, q, "W"] |= set(state.weight_value[q].reshape(-1).tolist()) - {0}

    monkeypatch.setattr(ExeDelivery, "deliver", watch)
    return found


@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("split", SPLITS)
def test_slices_and_results(mapping: str, split: str, seen: Seen) -> None:
    """Each cluster gets Fig. 9's slices; results are right (seed 000 ¶140-144, ¶149-170, ¶173)."""
    found = lower("spmm", W, rows=4, device="tiny", mapping=mapping, split=split)
    run = macaw.run(found.assemble(), x=X)
    np.testing.assert_array_equal(run.outputs["y"], X.astype(int) @ W.T.astype(int))
    external = run.counters["dma"]["bytes"] - found.cost.traffic.between
    line = f"| {mapping} | {split} | {run.cycles} | {found.cost.cycles} | {external} |"
    assert line in PAGE.splitlines(), "python docs/lowering.py"
    for place, (p, q) in enumerate(CLUSTERS):
        part = operand_ranges(split, place)
        m, n, k = (slice(part[dim].start, part[dim].stop) for dim in "MNK")
        assert seen[p, q, "I"] == set(X[m, k].reshape(-1).tolist())
        assert seen[p, q, "W"] == set(W[n, k].reshape(-1).tolist())


def test_the_reference_is_numpys_product() -> None:
    """The reference for products is NumPy's product (seed 000 ¶134-137)."""
    product = Product(4, W).validated(TINY)
    np.testing.assert_array_equal(reference.result(product, TINY, X), X.astype(int) @ W.T)
