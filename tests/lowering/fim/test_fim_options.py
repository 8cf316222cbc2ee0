"""Programs of products take the predicted cycles, and round as a NumPy model of islands does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from macaw.isa.config import load
from macaw.isa.fim_circuit import DOT, OUTER, TENSOR
from macaw.lowering.fim import job_timing
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.block_program import size
from macaw.lowering.fim.island_job import ProductJob
from macaw.lowering.fim.job_timing import predict
from macaw.lowering.fim.options import _least_rough, options
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.plan_timing import timed
from macaw.lowering.fim.shape import Shape
from macaw.lowering.fim.stream_candidates import streams
from tests.lowering.fim.running import BASE, TINY, alone, operands, product, rounded, run

pytestmark = pytest.mark.once

FEW = 16  # cycles of cp for each start, which predictions leave out


def check(option, graph, a, b, device, name):
    """Check that an option's program gives the right bits of C in the predicted cycles."""
    given = {side: x for side, x in (("a", a), ("b", b)) if graph.tensors[side].data is None}
    plan = alone(graph, option)
    done = run(plan, graph, device, name, **given)
    np.testing.assert_array_equal(done.outputs["c"], rounded(a, b, option.layout))
    few = FEW * option.job.stream.starts
    if option.job.stream.blocks > 1:  # what a block leaves is fetched while another one goes on
        few += option.total // 100
    assert abs(done.cycles - option.total) <= few
    assert abs(done.cycles - timed(plan, device).makespan) <= 5


@pytest.mark.parametrize("shape", [Shape(13, 37, 18, form=2), Shape(1, 70, 3, form=2)])
def test_each_pair_in_bf16(shape):
    """In bf16 each pair has right bits, and the cycles that it has in fp16."""
    a, b = operands(shape)
    device = TINY.changed({f"fim.island.{island}.formats": "bf16 fp16" for island in range(2)})
    graph = product(a, b)
    found = [x for x in options(graph.tasks, device, shape.form) if isinstance(x, Option)]
    halves = product(*(x.astype(np.float16) for x in (a, b)))
    others = [x for x in options(halves.tasks, device) if isinstance(x, Option)]
    assert [x.total for x in found] == [x.total for x in others]
    assert len(found) == 6
    for option in found:
        check(option, graph, a, b, device, "")


def option_of(stream, graph):
    """Return the option that computes a product with this stream on island 0 of tiny."""
    tasks = tuple(graph.tasks)
    job = ProductJob(tasks, tasks, stream)
    cycles = predict(job, TINY)
    return Option(tasks, 0, stream.layout, cycles.bring, cycles.compute, cycles.fetch, job=job)


def random_shape(random, most, form):
    m, k, n = random.integers(1, most + 1, 3).tolist()
    return Shape(m, k, n, form=form)


RANDOM = np.random.default_rng(11)
SHAPES = [random_shape(RANDOM, 40, form=n % 2) for n in range(6)]


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", [*SHAPES[:4], Shape(1, 1, 1), Shape(1, 70, 1), Shape(32, 20, 16)])
def test_each_pair_of_a_small_device(shape):
    """Each (island, layout) pair of tiny has right bits and cycles (seed 004 ¶42-43)."""
    a, b = operands(shape)
    for known in ("b", "a", "") if shape.m < 10 else ("b",):
        graph = product(a, b, known)
        found = [x for x in options(graph.tasks, TINY, form=shape.form) if isinstance(x, Option)]
        assert len(found) == (3 if shape.form else 6)
        for option in found:
            assert not option.pair
            check(option, graph, a, b, TINY, "tiny")


@pytest.mark.parametrize("name", ["aim", "ddr4_dimm", "hbm2_pim"])
def test_the_best_pair_of_memories_that_exist(name):
    """The best option on each memory that exists has right bits and cycles.

    Timing there includes tRRD, tFAW, tWTR and tRTP; the DIMM needs a command for each activation.
    """
    shape = Shape(12, 20, 18, form=2 if name == "aim" else 0)
    a, b = operands(shape)
    graph, device = product(a, b), load(name)
    found = [
        x
        for x in options(graph.tasks, device, shape.form)
        if isinstance(x, Option) and x.island == 1
    ]
    assert found
    check(min(found, key=lambda option: option.total), graph, a, b, device, name)


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", [Shape(48, 48, 48), Shape(45, 50, 70)])
def test_each_pair_of_four_islands(shape):
    """The three best pairs of base's islands have right bits and cycles (seed 004 ¶62)."""
    a, b = operands(shape)
    graph = product(a, b)
    found = [x for x in options(graph.tasks, BASE) if isinstance(x, Option)]
    assert {option.island for option in found} == {0, 1, 2, 3}
    for option in sorted(found, key=lambda option: option.total)[:3]:
        check(option, graph, a, b, BASE, "base")


@pytest.mark.few(2)
@pytest.mark.parametrize("layout", range(4))
def test_each_way_of_a_product(layout):
    """Several tilings of each layout, not only the best, have right bits and cycles."""
    shape = Shape(13, 37, 18)
    a, b = operands(shape)
    graph = product(a, b)
    ways = list(streams(shape, TINY, 0, layout))
    for stream in ways[:: len(ways) // 3 + 1]:
        check(option_of(stream, graph), graph, a, b, TINY, "tiny")


def test_tiles_to_the_right_of_a_narrow_result():
    """An item has 2 x 2 tiles, but only 3 columns: the right tiles are empty, yet are fetched."""
    a, b = operands(Shape(16, 8, 3))
    graph = product(a, b)
    ways = [x for x in streams(Shape(16, 8, 3), TINY, 0, TENSOR) if x.high == x.wide == 2]
    assert ways
    for stream in ways:
        check(option_of(stream, graph), graph, a, b, TINY, "tiny")


@pytest.mark.parametrize("layout", range(4))
def test_several_starts(layout):
    """A product whose strips need three starts, the last with fewer strips, is right."""
    shape = Shape(66, 20, 9)
    a, b = operands(shape)
    graph = product(a, b)
    stream = next(x for x in streams(shape, TINY, 0, layout) if (x.banks, x.blocks) == (1, 1))
    check(option_of(replace(stream, starts=3), graph), graph, a, b, TINY, "tiny")


@pytest.mark.parametrize("values", [{"fim.instructions": 400}, {"fim.rows": 12}])
def test_what_fits(values):
    """If not all strips fit into words and rows of an island, an option has several starts."""
    device = TINY.changed(values)
    graph = product(*operands(Shape(90, 64, 16)))
    found = [x for x in options(graph.tasks, device) if isinstance(x, Option)]
    assert any(option.job.stream.starts > 1 for option in found)
    for option in found:
        assert (
            sum(size(block.items) + 2 for block in option.job.blocks()) < device["fim.instructions"]
        )
        assert option.job.rows <= device["fim.rows"]


def test_many_starts(monkeypatch):
    """A prediction that skips starts is within 0.1% of one that skips none."""
    graph = product(*operands(Shape(300, 20, 16)))
    ways = [x for x in streams(Shape(300, 20, 16), TINY, 0, DOT) if x.wide == 16]
    tasks = tuple(graph.tasks)
    jobs = [ProductJob(tasks, tasks, replace(way, starts=30)) for way in ways]
    short = [predict(job, TINY) for job in jobs]
    monkeypatch.setattr(job_timing, "_MANY", 1 << 30)
    job_timing._simulated.cache_clear()
    job_timing._simulated_large.cache_clear()
    for found, job in zip(short, jobs, strict=True):
        assert found.total == pytest.approx(predict(job, TINY).total, rel=0.001)


@pytest.mark.parametrize("setting", ["divider", "lanes"])
@pytest.mark.parametrize("small", [0, 1 << 30])
def test_only_islands_with_equal_circuits_have_the_same_cycles(setting, small, monkeypatch):
    """An island with other circuits has the cycles that it has if all islands are like it."""
    monkeypatch.setattr(job_timing, "_SMALL", small)
    shape = Shape(30, 20, 16)
    graph = product(*operands(shape))
    way = next(iter(streams(shape, TINY, 0, OUTER)))
    jobs = [
        ProductJob(tuple(graph.tasks), tuple(graph.tasks), replace(way, island=island))
        for island in range(3)
    ]

    def cycles(*values):
        names = [f"fim.island.{island}.{setting}" for island in range(3)]
        device = TINY.changed({"fim.islands": 3, **dict(zip(names, values, strict=True))})
        return [predict(job, device) for job in jobs]

    ones, twos, mixed = cycles(1, 1, 1), cycles(2, 2, 2), cycles(1, 2, 1)
    assert ones[1].compute != twos[1].compute
    assert mixed == [ones[0], twos[1], ones[2]]


TIMES = ("t_ccdl", "t_ccds", "t_rcdrd", "t_rcdwr", "t_rp", "t_ras", "t_rc", "rl", "wl", "t_wr")


@pytest.mark.parametrize("seed", range(4))
def test_each_pair_of_any_timing(seed):
    """Predictions are right for random timings, clocks, lanes, dma and channel (seed 004 ¶61)."""
    random = np.random.default_rng(seed)
    values = {f"fim.{name}": int(random.choice([1, 5, 16, 70])) for name in TIMES}
    values["fim.t_ccdl"] = max(values["fim.t_ccdl"], values["fim.t_ccds"])
    for name in ("add", "mul", "tree"):
        values[f"fim.alu.{name}"] = int(random.choice([1, 4, 30]))
    for name, some in {"divider": [1, 3, 7], "lanes": [1, 7, 100]}.items():
        values[f"fim.island.0.{name}"] = int(random.choice(some))
    values["dma.divider"] = int(random.choice([1, 2]))
    values["dma.setup"] = int(random.choice([0, 9]))
    values["dma.buffer"] = int(random.choice([1, 5, 64]))
    values["mem.external_latency"] = int(random.choice([1, 50]))
    for name in ("t_rrds", "t_rrdl", "t_faw", "t_wtrs", "t_wtrl", "t_rtp", "t_rtw", "t_column"):
        values[f"fim.{name}"] = int(random.choice([0, 5, 16, 70]))
    values["fim.act_banks"] = int(random.choice([1, 2, 16]))
    device = TINY.changed(values)
    shape = random_shape(random, 24, form=seed % 2)
    a, b = operands(shape)
    graph = product(a, b)
    found = [x for x in options(graph.tasks, device, form=shape.form) if isinstance(x, Option)]
    assert found
    for option in found:
        check(option, graph, a, b, device, None)


def test_why_a_pair_cannot():
    graph = product(*operands(Shape(4, 4, 4)))
    found = {(x.island, x.layout): x for x in options(graph.tasks, TINY)}
    refusal = found[1, OUTER]
    assert isinstance(refusal, Refusal)
    assert "island 1 has no arrangement outer" in refusal.why


def test_the_least_estimate_is_that_of_any_layout():
    """It is the lowest of the estimates for the layouts that the island has."""
    tasks = product(*operands(Shape(64, 64, 64))).tasks
    place = BankRows(BASE["fim.rows"])

    def least(arrangements):
        values = {"fim.islands": 1, "fim.island.0.arrangements": arrangements}
        return _least_rough(tuple(tasks), BASE.changed(values), 0, place)

    pairs = [least(f"elementwise {other}") for other in ("dot", "outer", "tensor")]
    assert least("elementwise dot outer tensor") == min(pairs)
    assert 0 < least("elementwise tensor") < least("elementwise")  # there is no dot and no outer


def test_the_order_of_data_in_memory_is_part_of_the_costs():
    """Costs include copies that put data into the order of a layout's tiles (seed 004 ¶43)."""
    for k, ordered in ((64, True), (60, False)):
        a, b = operands(Shape(64, k, 64))
        device = BASE.changed({"fim.islands": 2})  # with these layouts
        found = [x for x in options(product(a, b).tasks, device) if isinstance(x, Option)]
        reorder = {x.layout: x.reorder for x in found}
        assert (reorder[DOT] == 0) == ordered  # rows of 128 bytes are columns, of 120 are not
        assert reorder[OUTER] > 0  # a tile is a part of a column of A
        assert all(x.reorder <= x.bring for x in found)
