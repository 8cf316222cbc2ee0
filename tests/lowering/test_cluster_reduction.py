"""Clusters and rows that compute parts of the same sums add these parts."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.isa.config import Configuration
from macaw.layer_lowering import Lowering, lower
from macaw.lowering import reference
from macaw.lowering.cluster_reduction import JOIN
from macaw.lowering.convolution import convolution
from macaw.lowering.image_plan import ImagePlan, ImageTile, make_image_plan
from macaw.lowering.layer_source import layer_source
from macaw.lowering.mapping import MAPPINGS
from tests.lowering.running import made

pytestmark = pytest.mark.once


def pointwise(
    split: str, config: Configuration, side: int, channels: int, bias: bool = True
) -> Lowering:
    """Lower a 1×1 convolution of an image of `side` × `side`, and compare its results."""
    rng = np.random.default_rng(3)
    found = lower(
        "conv2d",
        rng.integers(-9, 10, (4, 1, 1, channels)).astype(np.int8),
        image=(side, side),
        bias=rng.integers(-99, 100, 4) if bias else None,
        activation="relu",
        shift=4,
        split=split,
        device=config,
    )
    measured = found.measure()
    assert measured.equal
    assert measured.external_bytes == found.cost.traffic.external
    assert np.isclose(measured.cycles, found.cost.cycles, rtol=0.15)
    return found


def adding(source: str) -> list[str]:
    """Return the statements of the exes that add sums of clusters."""
    lines = [" ".join(line.split()) for line in source.splitlines()]
    return [line for line in lines if line.startswith(f"exe ib={JOIN}, ")]


def test_an_exe_adds_the_sums_of_many_positions() -> None:
    """The last exe begins earlier instead of having fewer positions than the others."""
    config = Configuration("four", {"pe.rows": 1, "pe.clusters": 4, "pe.pes": 4})
    rng = np.random.default_rng(3)
    weights, bias = rng.integers(-9, 10, (4, 1, 1, 8)).astype(np.int8), rng.integers(-99, 100, 4)
    product = convolution(weights, (9, 9), bias=bias, shift=4).validated(config)
    tile = ImageTile(groups=9, members=1, n=4, k=2, columns=9)
    plan = make_image_plan(product, config, MAPPINGS["input"], "f", tile, ImagePlan, part=None)
    program = layer_source(plan, "p", reasons=())
    exes = adding(program.source)
    assert [line.count("psums chain") for line in exes] == [41 * 4, 41 * 4]
    assert [line.count("psums start") for line in exes] == [41, 41]
    assert "psums chain[40, 0]" in exes[0]
    assert "psums chain[40, 0]" in exes[1]
    assert "out=(result[40], stride=1, step=4, count=41)" in exes[1]
    x = rng.integers(-9, 10, (9, 9, 8)).astype(np.int8)
    found = macaw.run(made(program), x=x).outputs["y"]
    np.testing.assert_array_equal(found, reference.result(product, config, x))


def test_too_many_summands_for_a_sequence() -> None:
    """A sequence of 16 instructions loads 15 sums; if there are more, it has one load in a loop."""
    settings = {"pe.rows": 1, "pe.clusters": 15, "pe.pes": 2}
    inside = pointwise("f", Configuration("inside", settings), 4, 60, bias=False)
    beyond = pointwise("f", Configuration("beyond", settings), 4, 60)
    assert "psums, base=15" in inside.source
    assert "psums, base=15" not in beyond.source
    assert len(adding(inside.source)) == 1
    assert len(adding(beyond.source)) == 16


def test_rows_add_sums_in_a_loop() -> None:
    config = Configuration("rows", {"pe.rows": 3, "pe.clusters": 2, "pe.pes": 2})
    source = pointwise("h", config, 5, 34).source
    assert ".seq    add_rows, pipeline=4" in source
    assert "psums gathered[2, 24] sliced" in source
