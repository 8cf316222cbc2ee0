"""A time step of each published layer takes the published cycles, within the benchmark's 10%.

Layers have a tenth of their published sizes, and the device a tenth of bw_s10's native dimension
and lanes. So passes and cycles are the same, but a matrix has a hundredth of the numbers.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.__main__ import RESULTS
from benchmarks.deepbench import DEVICE, GATES, LAYERS, WITHIN, cycles, measure
from benchmarks.figures import Effort
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
        few, more = (cycles("GRU", 256, steps, NARROW, before) for steps in (2, 3))
        found[before] = more - few
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
            few, more = (cycles(kind, int(hidden) // 10, steps, device) for steps in (2, 3))
            assert more - few == int(number), (kind, hidden, mapping)


def passes(hidden: int, mapping: str) -> int:
    """The passes of a matrix of a layer on bw_s10, by hand: 6 engines, tiles of 400 x 400."""
    rows = columns = -(-hidden // 400)
    whole = {"tiles": -(-rows * columns // 6), "rows": -(-rows // 6) * columns}
    return whole.get(mapping, rows * -(-columns // 6))


@pytest.mark.once
def test_the_benchmark_has_a_column_for_each_mapping() -> None:
    """A layer of one tile takes one pass with each mapping, so its cycles are the same."""
    found = {x.column: x.median for x in measure(Effort(small=True))}
    assert found["ours"] == found["by rows"] == found["by columns"]


def test_recorded_steps_of_each_mapping_follow_from_the_passes() -> None:
    """docs/benchmarks.md: a pass more of each product costs at most its 10 cycles.

    A step has two products for each gate, and other work can hide a part of these cycles. The time
    of one step alone is that of its start and end, too, so a layer of one step is left out. The end
    of a run adds less than half a cycle to each step.
    """
    recorded = results.read(RESULTS)
    figures = recorded["deepbench"].figures if "deepbench" in recorded else ()
    found = {(x.row, x.column): x.median for x in figures}
    for layer in LAYERS:
        row = f"{layer.kind} {layer.hidden}/{layer.steps}"
        for mapping in ("rows", "columns"):
            if layer.steps == 1 or (row, f"by {mapping}") not in found:
                continue  # results of a benchmark before it had these columns
            more = passes(layer.hidden, mapping) - passes(layer.hidden, "tiles")
            cost = round(found[row, f"by {mapping}"] - found[row, "ours"])
            assert (cost > 0) == (more > 0), (row, mapping)
            assert 0 <= cost <= 2 * len(GATES[layer.kind]) * more * 10, (row, mapping)


def test_large_layers_are_bound_by_the_multiplier() -> None:
    """A large GRU takes the multiplier's cycles only (seed 003 ¶34).

    These are six products of 8 x 8 tiles, by 6 engines of 40 lanes, 11 * 10 cycles each
    (docs/timing-nnp.md).
    """
    device = NARROW.changed({f"nnp.{name}_depth": 1 for name in DEPTHS})
    few, more = (cycles("GRU", 281, steps, device) for steps in (3, 5))
    assert (more - few) / 2 == pytest.approx(660, rel=0.03)
