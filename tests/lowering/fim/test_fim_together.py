"""Tasks of one start: a product with functions, and a producer with its consumer."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import macaw
from macaw.isa.fim_circuit import DOT, ELEMENTWISE, TENSOR
from macaw.lowering.fim.bank_timing import BankTiming
from macaw.lowering.fim.blocks_timing import BlocksTiming
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option, Refusal
from tests.emu.fim.machine import Machine
from tests.lowering.fim.running import BASE, TINY, alone, modelled, run

pytestmark = pytest.mark.once


def numbers(shape, seed, dtype=np.float16):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def found(graph, device):
    rows = options(graph.tasks, device, form=graph.form)
    return [row for row in rows if isinstance(row, Option)]


def check(option, graph, device, name, **inputs):
    plan = alone(graph, option)
    done = run(plan, graph, device, name, **inputs)
    for tensor, wanted in modelled(plan, graph, inputs).items():
        np.testing.assert_array_equal(done.outputs[tensor], wanted)
    assert abs(done.cycles - option.total) <= 16 + option.total // 500
    return done


def layer(graph, x, width, functions, seed=0):
    """Add a product and functions to a graph; second operands of functions have repeated rows."""
    weights = numbers((x.columns, width), seed) / 4
    name = f"w{seed}"
    y = graph.product(x, graph.constant(name, weights.astype(FORMATS[graph.form])))
    for place, function in enumerate(functions):
        more = []
        if function in ("add", "sub", "mul", "div"):
            row = np.repeat(numbers((1, width), seed + place + 7), x.rows, axis=0)
            more.append(graph.constant(f"{name}_{place}", row.astype(FORMATS[graph.form])))
        y = graph.pointwise(function, y, *more)
    return y


FORMATS = ("float16", "float32")
FUNCTIONS = [("relu",), ("add", "relu"), ("mul", "tanh", "add"), ("div", "vssqr", "sub", "sigmoid")]


@pytest.mark.parametrize(("functions", "form"), [*zip(FUNCTIONS, (0, 0, 1, 0), strict=True)])
def test_functions_of_a_product(functions, form):
    graph = Graph(form)
    layer(graph, graph.tensor("x", 13, 21), 18, functions)
    rows = found(graph, TINY)
    assert len({row.layout for row in rows if row.island == 0}) == (3 if form else 4)
    for option in rows:
        check(option, graph, TINY, "tiny", x=numbers((13, 21), 1, FORMATS[form]))


def test_operands_that_change_places():
    graph = Graph()
    y = graph.product(graph.tensor("x", 5, 6), graph.constant("w", numbers((6, 7), 1)))
    one = graph.constant("one", np.repeat(numbers((1, 7), 2), 5, axis=0))
    graph.pointwise("add", one, y)
    for option in found(graph, TINY):
        check(option, graph, TINY, "tiny", x=numbers((5, 6), 1))


@pytest.mark.parametrize(
    ("m", "k", "n", "last"), [(20, 18, 16, 20), (9, 33, 30, 40), (40, 16, 10, 3)]
)
@pytest.mark.parametrize("between", [(), ("add", "relu")])
def test_a_producer_and_its_consumer(m, k, n, last, between):
    """A producer and its consumer in fp32 on four islands use the layout dot (seed 004 ¶52)."""
    graph = Graph(1)
    layer(graph, layer(graph, graph.tensor("x", m, k), n, between, 1), last, ("add",), 2)
    rows = found(graph, BASE)
    assert {row.layout for row in rows} == {DOT}
    assert all(row.pair for row in rows)
    check(rows[0], graph, BASE, "base", x=numbers((m, k), 1, np.float32))


@pytest.mark.parametrize("functions", [(), ("sub", "vssqr")])
def test_pairs_of_larger_products(functions):
    graph = Graph()
    layer(graph, layer(graph, graph.tensor("x", 40, 50), 45, functions, 1), 60, (), 2)
    rows = sorted(found(graph, BASE), key=lambda row: row.total)
    assert {row.layout for row in rows} == {DOT, TENSOR} - ({DOT} if functions else set())
    for option in rows[:2]:
        check(option, graph, BASE, "base", x=numbers((40, 50), 1))


@pytest.mark.parametrize("sides", [(32, 32, 32, 32), (20, 18, 30, 21), (9, 40, 50, 33)])
def test_pairs_of_tensors_that_are_not_known_beforehand(sides):
    """A pair with inputs on both sides ignores the bytes after its last operand, even NaN."""
    m, k, n, last = sides
    graph = Graph()
    a, b, c = graph.tensor("a", m, k), graph.tensor("b", k, n), graph.tensor("c", n, last)
    graph.tensor("d", n, last)
    graph.chain(a, b, c)
    given = {"a": numbers((m, k), 1), "b": numbers((k, n), 2) / 4, "c": numbers((n, last), 3)}
    given["d"] = np.full((n, last), np.nan, np.float16)
    rows = sorted(found(graph, BASE), key=lambda row: row.total)
    kinds = {row.layout: row for row in reversed(rows)}
    assert set(kinds) == {DOT, TENSOR}
    for option in kinds.values():
        check(option, graph, BASE, "base", **given)


def products(sides, form=0, known=True, between=()):
    """A chain of products whose matrices have these sides, and its inputs."""
    graph, dtype = Graph(form), FORMATS[form]
    y = graph.tensor("x", *sides[:2])
    given = {"x": numbers(sides[:2], 1, dtype)}
    for place, shape in enumerate(pairwise(sides[1:])):
        matrix = (numbers(shape, place + 20) / 4).astype(dtype)
        if known:
            right = graph.constant(f"w{place}", matrix)
        else:
            right = graph.tensor(f"w{place}", *shape)
            given[right.name] = matrix
        y = graph.product(y, right)
        for function in between if place < len(sides) - 3 else ():
            y = graph.pointwise(function, y)
    return graph, given


@pytest.mark.parametrize(
    ("sides", "form", "known", "between"),
    [
        ((20, 18, 16, 20, 30), 0, True, ()),
        ((17, 30, 40, 20, 9, 24), 0, True, ()),
        ((9, 16, 33, 20, 11), 1, False, ()),
        ((12, 40, 20, 18, 30), 0, True, ("relu",)),
        ((12, 40, 20, 18, 30), 0, True, ("vssqr",)),
    ],
)
def test_chains_of_three_and_four_products(sides, form, known, between):
    """The blocks between the first and the last one take tiles, and push tiles (seed 004 ¶40-50)."""
    graph, given = products(sides, form, known, between)
    rows = sorted(found(graph, BASE), key=lambda row: row.total)
    kinds = {row.layout: row for row in reversed(rows)}
    assert kinds
    for option in kinds.values():
        assert len(option.job.streams) == len(sides) - 2
        check(option, graph, BASE, "base", **given)


@pytest.mark.usefixtures("short_search")
def test_a_plan_computes_a_chain_of_three_products_in_one_start():
    """A run of one start takes less than 60% of the cycles of a run with three starts."""
    graph, given = products((32, 64, 64, 64, 64))
    whole, apart = (macaw.lower_graph(graph, together=x) for x in (True, False))
    assert [len(step.tasks) for step in whole.plan.steps] == [3]
    columns = 2 * 32 * 64 * 2 // 32  # two results of fp16; a column has 32 bytes
    message = f"3 products at once, with 2 buffers of {columns} columns together"
    assert message in [line.strip() for line in whole.reasons()]
    done = whole.measure(given)
    for tensor, wanted in modelled(whole.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[tensor], wanted)
    assert abs(done.cycles / whole.cycles - 1) < 0.02
    assert done.cycles < 0.6 * apart.cycles


def test_chains_that_are_too_long_or_too_wide():
    graph, _ = products((5, 5, 5, 5, 5, 5, 5))
    assert refusal(graph) == "one start can do four products, not five"
    graph, _ = products((5, 96, 96, 96, 96))
    assert refusal(graph) == "three products and their buffers take more banks, rows or words"


def refusal(graph, layout=DOT):
    rows = options(graph.tasks, TINY)
    return next(row.why for row in rows if isinstance(row, Refusal) and row.layout == layout)


def test_why_not_together():
    graph = Graph()
    x = graph.tensor("x", 5, 5)
    graph.pointwise("add", graph.product(x, graph.constant("w", numbers((5, 5), 1))), x)
    assert refusal(graph) == "x is no constant row that is the same for all rows of t0"
    graph = Graph()
    x = graph.tensor("x", 5, 5)
    graph.product(graph.constant("w", numbers((5, 5), 1)), graph.pointwise("relu", x))
    assert refusal(graph) == "at one start a product comes first, not a pointwise"
    graph = Graph()
    y = graph.product(graph.tensor("x", 5, 5), graph.tensor("y", 5, 5))
    graph.product(graph.constant("w", numbers((5, 5), 1)), y)
    assert refusal(graph) == "t1 takes t0 as its right side"
    graph = Graph()
    y = graph.product(graph.tensor("x", 5, 5), graph.tensor("y", 5, 5))
    graph.product(y, y)
    assert refusal(graph) == "t1 takes t0 as its right side"
    graph = Graph()
    y = graph.product(graph.tensor("x", 5, 5), graph.tensor("y", 5, 5))
    graph.product(y, graph.constant("w", numbers((5, 5), 1)))
    why = "what elementwise yields is no tile of A; what dot and tensor yield is one"
    assert refusal(graph, ELEMENTWISE) == why


def rounds(job):
    """Whether the consumer reads pushed columns more than once."""
    return any("_start" in line for line in job.blocks()[1].lines())


DIMM = BASE.changed(
    {"fim.organisation": "dimm", "fim.ranks": 4, "fim.bank_groups": 2, "fim.group_banks": 2,
     "fim.chip_bits": 8, "fim.t_rtrs": 3}
)  # fmt: skip
HBM2 = BASE.changed(
    {"fim.t_rrds": 4, "fim.t_rrdl": 6, "fim.t_faw": 30, "fim.t_wtrs": 6, "fim.t_wtrl": 8,
     "fim.t_rtp": 6, "fim.t_rtw": 17, "fim.t_column": 11,
     "fim.act_banks": 1}
)  # fmt: skip


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("sides", "several", "device"),
    [((20, 18, 30, 21), False, BASE), ((9, 20, 34, 21), False, BASE), ((9, 20, 17, 400), True, BASE),
     ((9, 20, 34, 21), False, DIMM), ((9, 20, 34, 21), False, HBM2)],
    ids=["base", "larger", "rounds", "dimm", "hbm2"],
)  # fmt: skip
def test_blocks_of_a_pair_take_just_what_is_predicted(sides, several, device):
    """The words of a pair's blocks take exactly the predicted cycles.

    The consumer waits for stored columns and for the lock. See seed 004 ¶45, ¶49-50, ¶40.
    """
    m, k, n, last = sides
    graph = Graph()
    graph.chain(*(graph.tensor(*x) for x in (("a", m, k), ("b", k, n), ("c", n, last))))
    jobs = [row.job for row in found(graph, device)]
    assert any(map(rounds, jobs)) == several
    for job in jobs:
        blocks, island = job.blocks(), job.island
        lines = [line for block in blocks for line in block.lines()]
        machine = Machine(lines, device, island=island)
        seen: list[int] = []

        def hear(event, seen=seen):
            seen.append(event.time)

        machine.device.listen(hear, [f"fim[{island}]"])
        machine.done()
        assert max(seen) == BlocksTiming(blocks, device, island).end(BankTiming(device), 0)
        assert machine.island.counters()["cycles_pull"] > 0
