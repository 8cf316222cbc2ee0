"""A time step of each published layer takes the published cycles, within the benchmark's 10%.

Layers have a tenth of their published sizes, and the device a tenth of bw_s10's native dimension
and lanes. So passes and cycles are the same, but a matrix has a hundredth of the numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.deepbench import DEVICE, WITHIN, cycles
from macaw.isa import config

DEPTHS = ("read", "multiplier", "crossbar", "add", "multiply", "activation", "write")
NARROW = config.load(DEVICE).changed(
    {"nnp.native": 40, "nnp.lanes": 4, "nnp.vector_lanes": 40, "mem.external_width": 4}
)


@pytest.mark.once
@pytest.mark.parametrize(
    ("kind", "hidden", "published"),
    [("GRU", 2560, 662), ("GRU", 1024, 632), ("LSTM", 2048, 740), ("LSTM", 256, 708)],
)
def test_a_step_takes_what_was_published(kind: str, hidden: int, published: int) -> None:
    """A time step of a layer takes the published cycles (seed 003 ¶50-52)."""
    few, more = (cycles(kind, hidden // 10, steps, NARROW) for steps in (3, 6))
    assert (more - few) / 3 == pytest.approx(published, rel=WITHIN)


@pytest.mark.once
def test_the_order_of_chains_matters() -> None:
    """A GRU is fastest with two products before the chain that ends a step (docs/benchmarks.md)."""
    found = {}
    for before in (1, 2, 3):
        few, more = (cycles("GRU", 256, steps, NARROW, before) for steps in (3, 5))
        found[before] = (more - few) / 2
    assert found == {1: 741, 2: 694, 3: 718}


@pytest.mark.once
def test_the_mapping_of_tiles_to_engines_matters() -> None:
    """The table of docs/timing-nnp.md: cycles of a step by `nnp.mapping` (seed 003 ¶46)."""
    page = (Path(__file__).parents[3] / "docs" / "timing-nnp.md").read_text("utf-8")
    head, _, rest = page.partition("| layer | tiles of a matrix |")[2].partition("|---:|\n")
    mappings = re.findall(r"`(\w+)`", head)
    rows = re.findall(r"\| (\w+) (\d+) \| [^|]+ \|([\d |]+)\|", rest)
    assert len(rows) == 4
    assert len(mappings) == 3
    for kind, hidden, numbers in rows:
        for mapping, number in zip(mappings, numbers.split("|"), strict=True):
            device = NARROW.changed({"nnp.mapping": mapping})
            few, more = (cycles(kind, int(hidden) // 10, steps, device) for steps in (3, 5))
            assert (more - few) / 2 == int(number), (kind, hidden, mapping)


def test_large_layers_are_bound_by_the_multiplier() -> None:
    """A large GRU takes the multiplier's cycles only (seed 003 ¶34).

    These are six products of 8 x 8 tiles, by 6 engines of 40 lanes, 11 * 10 cycles each
    (docs/timing-nnp.md).
    """
    device = NARROW.changed({f"nnp.{name}_depth": 1 for name in DEPTHS})
    few, more = (cycles("GRU", 281, steps, device) for steps in (3, 5))
    assert (more - few) / 2 == pytest.approx(660, rel=0.03)
