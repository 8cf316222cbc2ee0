"""Products that several islands share: regions, bits, cycles, and products that are not shared."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.lowering.fim.bank_images import Residency
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import GraphPlan, Option, Step
from macaw.lowering.fim.shape import Region, Shape
from macaw.lowering.fim.split import split_options
from tests.lowering.fim.running import FORMAT_OF, TINY, modelled, run

pytestmark = pytest.mark.once


def numbers(*shape, seed=1, dtype=np.float16):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(dtype)


def layer(m, k, n, known="b", dtype=np.float16):
    """A graph of x w + b or w x, where `known` is the constant operand; and its inputs."""
    graph = Graph(FORMAT_OF[np.dtype(dtype).name])
    a, b = (
        graph.constant(name, numbers(*shape, seed=seed, dtype=dtype))
        if name == known
        else graph.tensor(name, *shape)
        for seed, (name, shape) in enumerate((("a", (m, k)), ("b", (k, n))))
    )
    y = graph.product(a, b)
    if known == "b":
        row = np.repeat(numbers(1, n, seed=5, dtype=dtype), m, axis=0)
        y = graph.pointwise("add", y, graph.constant("bias", row))
    graph.result(y)
    return graph, {x.name: numbers(x.rows, x.columns, seed=9, dtype=dtype) for x in graph.inputs}


def plan_of(graph, option):
    """Return a plan that has only this shared option, with its actions in the predicted order."""
    track = simulate([option])
    steps = tuple(Step(number, part) for number, part in enumerate(track.options))
    return GraphPlan(graph, steps, tuple(track.actions), track.clock.end, issued=(option,))


@pytest.mark.parametrize(
    ("shape", "known", "dtype"),
    [
        ((24, 44, 58), "b", np.float16),
        ((1, 70, 100), "b", np.float16),
        ((34, 24, 33), "a", np.float16),
        ((40, 20, 48), "", np.float32),
    ],
)
def test_regions_have_the_bits_of_the_whole(shape, known, dtype):
    """Regions by rows and by columns give the bits of the whole product, with functions, too."""
    m, k, n = shape
    graph, given = layer(m, k, n, known, dtype)
    names = ("divider", "lanes", "rz_slices", "formats", "arrangements", "functions")
    alike = {f"fim.island.1.{name}": TINY[f"fim.island.0.{name}"] for name in names}
    device = TINY.changed({**alike, "fim.island.1.divider": 2})
    found = options(graph.tasks, device, graph.form, together=True)
    shared = [row for row in found if isinstance(row, Option) and row.parts]
    assert shared
    for option in shared:
        regions = [part.job.region for part in option.parts]
        whole = np.zeros((shape[0], shape[2]), int)
        for region in regions:
            whole[region.row_range, region.column_range] += 1
        assert np.all(whole == 1)
        plan = plan_of(graph, option)
        done = run(plan, graph, device, "", **given)
        for name, wanted in modelled(plan, graph, given).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
        assert abs(done.cycles / option.total - 1) < 0.03


def test_a_shared_product_ends_sooner():
    """If two islands share a product, the plan is shorter and its cycles are as predicted.

    The scheduler's reasons name the parts.
    """
    graph, given = layer(1, 128, 192)
    device = TINY.changed({"fim.island.1.divider": 1})
    shared, alone = (macaw.lower_graph(graph, device=device, together=x) for x in (True, False))
    assert len(shared.plan.steps) == 2
    assert {step.option.island for step in shared.plan.steps} == {0, 1}
    text = "\n".join(shared.reasons())
    assert "part 1 of 2: rows 0 to 0, columns 0 to" in text
    assert "part 2 of 2: rows 0 to 0, columns" in text
    assert "to 191" in text
    done = shared.measure(given)
    wanted = modelled(shared.plan, graph, given)
    for name, array in wanted.items():
        np.testing.assert_array_equal(done.outputs[name], array)
    assert abs(done.cycles / shared.cycles - 1) < 0.02
    assert done.cycles < 0.8 * alone.cycles


def option(island, compute, bring=10):
    graph, _ = layer(1, 1, 1)
    stays = Residency("b", 1, 8)
    return Option(tuple(graph.tasks), island, 1, bring, compute, 10, banks=1, residency=stays)


def shared_by(shape, *several):
    """The shared options of a product, and the regions for which an option was requested."""
    asked = []

    def ask(island, layout, region):
        asked.append((island, layout, region))
        return option(island, 100)

    found = list(split_options(shape, several, ask))
    assert len(asked) == 2 * len(found)
    assert all((row.bring, row.fetch, len(row.parts)) == (20, 20, 2) for row in found)
    return found, asked


def test_regions_of_columns_end_together():
    """Two islands that share columns end at the same time.

    Each island needs all of A, whose copy takes 500 cycles to island 0 and 100 to island 1. All 96
    columns take 900 cycles. Island 1 gets A first, and a share a of the columns: 100 + 900 a =
    100 + 500 + 900 (1 - a), so a = 7/9, which is 75 columns, rounded to 80, a multiple of 16.
    """
    found, asked = shared_by(Shape(1, 8, 96), option(0, 900, 500), option(1, 900, 100))
    assert asked == [(1, 1, Region(0, 1, 0, 80, 96)), (0, 1, Region(0, 1, 80, 16, 96))]
    assert found[0].name == "island 1 by dot and island 0 by dot"


def test_regions_of_rows_end_together():
    """Two islands that share rows end at the same time.

    Each island needs its rows of A. A copy of all 64 rows takes 500 cycles to island 0 and 100 to
    island 1; their product takes 900. Island 1 gets its rows first, a share a of them: 1000 a =
    100 a + 1400 (1 - a), so a = 14/23, which is 39 rows, rounded to 40, a multiple of 4.
    """
    _, asked = shared_by(Shape(64, 8, 8), option(0, 900, 500), option(1, 900, 100))
    assert asked == [(1, 1, Region(0, 40, 0, 8, 8)), (0, 1, Region(40, 24, 0, 8, 8))]


def test_what_is_not_shared():
    """A small product is not shared, nor is any if other islands are missing, slow or unable."""

    def none(_island, _layout, _region):
        return None

    shape = Shape(64, 8, 64)
    for rows in (
        [option(0, 100), option(1, 100)],
        [option(0, 5000)],
        [option(0, 1000), option(1, 9000)],
    ):
        assert not list(split_options(shape, rows, lambda *_: option(0, 1)))
    assert not list(split_options(shape, [option(0, 5000), option(1, 5000)], none))
