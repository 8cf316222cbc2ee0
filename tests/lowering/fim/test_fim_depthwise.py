"""Depthwise convolutions in the banks of an island: bits, cycles, which tasks they consist of."""

from __future__ import annotations

import re
from functools import partial, reduce

import numpy as np
import pytest
from onnx import helper

import macaw
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.depthwise import MOST_TAPS, depthwise_of, depthwise_units
from macaw.lowering.fim.fused_task import CannotError
from macaw.lowering.fim.graph import GATHER, Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.program import emit
from tests.lowering.fim.onnx_models import model
from tests.lowering.fim.running import BASE, TINY, alone, modelled, run

ENGINES = ("fast", "reference")
DTYPES = ("float16", "float32")
pytestmark = pytest.mark.once


def row(graph, name, height, channels, seed):
    """A constant with equal rows."""
    numbers = np.random.default_rng(seed).standard_normal((1, channels))
    return graph.constant(name, np.repeat(numbers, height, axis=0).astype(DTYPES[graph.form]))


def convolution(places, pixels, channels, form=0, after=(), exchanged=False):
    """A depthwise convolution; `places` has the pixel of each result and tap. And its input."""
    graph, (height, taps) = Graph(form), np.shape(places)
    x, parts = graph.tensor("x", pixels, channels), []
    for tap in range(taps):
        moved = graph.gather(x, [line[tap] for line in places])
        operands = moved, row(graph, f"w{tap}", height, channels, tap)
        parts.append(graph.pointwise("mul", *operands[:: -1 if exchanged else 1]))
    total = parts[0]
    for part in parts[1:]:
        operands = (part, total) if exchanged else (total, part)
        total = graph.pointwise("add", *operands)
    for number, function in enumerate(after):
        more = []
        if function in ("add", "sub", "mul", "div"):
            more.append(row(graph, f"c{number}", height, channels, number + 50))
        total = graph.pointwise(function, total, *more)
    given = np.random.default_rng(99).standard_normal((pixels, channels)).astype(DTYPES[form])
    return graph, {"x": given}


def kernel(
    side: int = 4, size: int = 3, stride: int = 1, dilation: int = 1
) -> tuple[list[list[int]], int]:
    """The pixels of a kernel over a square image, and the number of the image's pixels."""
    wide = (side - 1) * stride + (size - 1) * dilation + 1
    places = [
        [
            (row * stride + dy * dilation) * wide + column * stride + dx * dilation
            for dy in range(size)
            for dx in range(size)
        ]
        for row in range(side)
        for column in range(side)
    ]
    return places, wide * wide


def of_kernel(channels, after=(), **form):
    """The depthwise convolution of a kernel, and its input."""
    places, pixels = kernel(**form)
    return convolution(places, pixels, channels, after=after)


def possible(graph, device=TINY, place=None):
    rows = options(graph.tasks, device, form=graph.form, place=place)
    return [option for option in rows if isinstance(option, Option)]


def test_the_banks_of_an_option_are_those_of_its_block():
    places, pixels = kernel()
    graph, _ = convolution(places, pixels, 48, 0, ("add",))
    for option in possible(graph, BASE):
        source = emit(alone(graph, option), graph, BASE, BASE.name).source
        (banks,) = re.findall(r"\.block +banks=0-(\d+)", source)
        assert option.banks == (2 << int(banks)) - 1


def assert_bits_and_cycles(graph, given, option, device, engine="fast"):
    plan = alone(graph, option)
    done = run(plan, graph, device, device.name, engine=engine, **given)
    for name, wanted in modelled(plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles - option.total) <= 16 + option.total // 100


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("form", "channels", "after"),
    [(0, 32, ("add", "relu")), (1, 16, ()), (0, 48, ("mul", "sub", "tanh")), (0, 16, ("div",))],
)
def test_each_island_has_the_bits_and_the_cycles(form, channels, after, engine):
    """Each island of a device has the bits of the definition, and the predicted cycles."""
    places, pixels = kernel()
    graph, given = convolution(places, pixels, channels, form, after)
    found = possible(graph, BASE)
    assert found
    for option in found:
        assert_bits_and_cycles(graph, given, option, BASE, engine)


@pytest.mark.parametrize(
    "form",
    [
        {"stride": 2},
        {"dilation": 2},
        {"size": 5, "side": 3},
        {"size": 1, "side": 6},
        {"size": 2, "side": 7},
    ],
)
def test_strides_dilations_and_sizes_of_kernels(form):
    graph, given = of_kernel(32, **form, after=("add",))
    for option in possible(graph, BASE)[:2]:
        assert_bits_and_cycles(graph, given, option, BASE)


@pytest.mark.parametrize("seed", range(8))
def test_random_pixels_in_any_order(seed):
    """Taps whose pixels are in any order, also the same pixel for several taps."""
    dice = np.random.default_rng(seed)
    height, taps, pixels = dice.integers(1, 20), dice.integers(1, 12), dice.integers(1, 90)
    places = dice.integers(0, pixels, (height, taps)).tolist()
    channels = 16 * int(dice.integers(1, 5))
    graph, given = convolution(places, int(pixels), channels, exchanged=seed % 2 == 1)
    for option in possible(graph, BASE)[:2]:
        assert_bits_and_cycles(graph, given, option, BASE)


def test_more_channels_than_banks():
    """A bank has several columns of channels, one turn after the other; the last turn has few."""
    graph, given = of_kernel(16 * 19, side=2, after=("add",))
    for option in possible(graph, BASE)[:2]:
        assert option.job.turns == 2
        assert_bits_and_cycles(graph, given, option, BASE)


@pytest.mark.usefixtures("short_search")
def test_shares_of_the_result_and_constants_that_stay():
    """Banks share the rows of the result; no copies bring the constants that stay."""
    graph, given = of_kernel(32, side=8, after=("add",))
    place = BankRows(BASE["fim.rows"], BASE["fim.rows"] // 2, resident=True)
    copied, stays = possible(graph, BASE)[1], possible(graph, BASE, place)[1]
    assert copied.job.shares > 1
    assert stays.bring < copied.bring
    assert stays.residency is not None
    lowered = macaw.lower_graph(graph)
    assert [len(step.tasks) for step in lowered.plan.steps] == [len(graph.tasks)]
    done = lowered.measure(given)
    for name, wanted in modelled(lowered.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles / lowered.cycles - 1) < 0.02


@pytest.mark.parametrize("rows", [BASE["fim.rows"], 3])
def test_four_shares_if_three_do_not_divide_the_result(rows):
    """A result of 64 rows has 4 shares in 3 rows of a bank; fewer shares would need more rows."""
    graph, _ = of_kernel(16, side=8, after=("add",))
    found = possible(graph, BASE, BankRows(rows))
    assert [(option.job.shares, option.job.rows) for option in found] == [(4, 3)] * 4


@pytest.mark.usefixtures("short_search")
def test_the_scheduler_takes_the_banks_for_a_depthwise_convolution():
    """It takes less than half of the cycles that gathers and functions as separate steps take."""
    graph, _ = of_kernel(32, side=8, after=("add", "relu"))
    whole, apart = (macaw.lower_graph(graph, together=x) for x in (True, False))
    assert whole.cycles < 0.5 * apart.cycles


def test_which_units_there_are():
    """A sum of taps in order is a unit; sums of sums, and results that others read, are not."""
    places, pixels = kernel(size=2)
    graph, _ = convolution(places, pixels, 16, after=("relu",))
    (unit,) = depthwise_units(graph)
    assert [task.kind == GATHER for task in unit].count(True) == 4
    assert unit == tuple(graph.tasks[:-1])
    graph.result(graph.tasks[2].output)  # a gather
    graph.result(graph.tasks[1].output)  # the first product
    assert list(depthwise_units(graph)) == []


def assert_lowered_bits(graph, given):
    """Lower a graph, run its program, and compare the results with the model; return the plan."""
    lowered = macaw.lower_graph(graph)
    done = macaw.run(lowered.assemble(), given)
    wanted = modelled(lowered.plan, lowered.graph, given)
    assert set(done.outputs) == set(wanted)
    for name in wanted:
        np.testing.assert_array_equal(done.outputs[name], wanted[name])
    return lowered.plan


@pytest.mark.parametrize("number", [0, 1, 2, 3])  # a gather, the first product, and so on
def test_the_host_reads_a_part_of_a_convolution(number):
    """The task whose output the host reads is in no unit, since the unit does not store it."""
    graph, given = convolution([[0, 1, 2], [1, 2, 3]], 4, 16)
    part = graph.tasks[number].output
    graph.result(graph.tasks[-1].output)
    graph.result(part)
    assert all(part not in [task.output for task in unit] for unit in depthwise_units(graph))
    assert_lowered_bits(graph, given)


def onnx_taps(count):
    """The constants and nodes of taps: tap n takes pixels g<n> of x and multiplies them to m<n>."""
    constants, nodes = {}, []
    for tap in range(count):
        constants[f"i{tap}"] = np.array([0, 2, 1, 3]) + tap
        constants[f"w{tap}"] = np.random.default_rng(tap).standard_normal(16).astype(np.float32)
        nodes.append(helper.make_node("Gather", ["x", f"i{tap}"], [f"g{tap}"], axis=0))
        nodes.append(helper.make_node("Mul", [f"g{tap}", f"w{tap}"], [f"m{tap}"]))
    return constants, nodes


def test_the_host_reads_the_pixels_of_a_tap_of_an_onnx_model():
    """The output of a Gather is both an output of the model and an input of a tap's Mul."""
    constants, nodes = onnx_taps(2)
    nodes.append(helper.make_node("Add", ["m0", "m1"], ["y"]))
    x = np.random.default_rng(9).standard_normal((8, 16)).astype(np.float16)
    assert_lowered_bits(model(nodes, {"x": (8, 16)}, ["y", "g0"], **constants), {"x": x})


def test_a_sum_of_sums_is_no_unit():
    graph = Graph()
    x = graph.tensor("x", 4, 16)
    parts = [
        graph.pointwise("mul", graph.gather(x, [n, 0]), row(graph, f"w{n}", 2, 16, n))
        for n in range(4)
    ]
    halves = [graph.pointwise("add", *parts[n : n + 2]) for n in (0, 2)]
    graph.pointwise("add", *halves)
    assert [len(unit) for unit in depthwise_units(graph)] == [5, 5]


def test_a_kernel_with_too_many_taps_is_divided():
    height = MOST_TAPS + 2
    graph, _ = convolution([list(range(height))], height, 16)
    units = list(depthwise_units(graph))
    assert [len(unit) for unit in units] == [3 * MOST_TAPS - 1]


def refusals(graph, device=TINY, tasks=None):
    """The reasons of the islands that cannot do the tasks, by island."""
    rows = options(tasks or graph.tasks, device, form=graph.form)
    return {row.island: row for row in rows if isinstance(row, Refusal)}


def refusal(graph, tasks=None):
    """The reasons, if no island can do the tasks."""
    rows = refusals(graph, tasks=tasks)
    assert len(rows) == TINY["fim.islands"]
    return {row.why for row in rows.values()}


def test_channels_that_are_no_whole_columns_of_memory():
    graph, _ = convolution([[0, 1], [1, 2]], 3, 24)
    assert refusal(graph) == {"the channels of t4 are no whole columns of memory"}


def test_tasks_that_are_no_depthwise_convolution():
    graph = Graph()
    x, w = graph.tensor("x", 4, 16), graph.tensor("w", 2, 16)
    graph.pointwise("mul", graph.gather(x, [1, 2], name="g"), w, name="y")
    assert refusal(graph) == {"y is no part of a depthwise convolution"}
    weights = np.ones((2, 16), np.float16)
    weights[1, 5] = 2  # in a convolution, each pixel of a result has the same weights
    graph.pointwise("mul", graph.gather(x, [1, 2]), graph.constant("v", weights), name="z")
    with pytest.raises(CannotError, match="z is no part of a depthwise convolution"):
        depthwise_of(graph.tasks[-2:], 0)
    other, _ = convolution([[0, 1], [1, 2]], 3, 16)
    assert refusal(other, other.tasks[:4]) == {"the tasks are no depthwise convolution"}
    graph.product(graph.gather(x, [1, 2]), graph.transposed(x), name="p")
    with pytest.raises(CannotError, match="p is no part of a depthwise convolution"):
        depthwise_of(graph.tasks[-2:], 0)


def test_an_island_without_a_function_and_one_without_memory():
    graph, _ = of_kernel(16, after=("vssqrt",))
    found = refusals(graph, BASE)
    assert list(found) == [0, 1, 3]
    assert "island 0 has no vssqrt" in found[0].why
    small = refusals(graph, BASE.changed({"fim.instructions": 16}))[2]
    assert small.why == "its pixels take more rows (fim.rows) or words (fim.instructions)"
    assert small.exceeds_memory


def test_functions_that_cannot_follow():
    """The definition names the first function that does not belong to the convolution."""
    places, pixels = kernel(size=2)
    graph, _ = convolution(places, pixels, 16)
    total = graph.tasks[-1].output
    graph.pointwise("max", total, row(graph, "most", 16, 16, 3), name="m")
    with pytest.raises(CannotError, match="m is no part of a depthwise convolution"):
        depthwise_of(graph.tasks, 0)
    unequal = np.arange(16 * 16).reshape(16, 16) % 7
    constant = graph.constant("c", unequal.astype(np.float16))
    graph.tasks.pop()
    graph.pointwise("add", total, constant, name="a")
    with pytest.raises(CannotError, match="a is no part of a depthwise convolution"):
        depthwise_of(graph.tasks, 0)


@pytest.mark.parametrize("function", ["add", "sub", "mul"])
def test_a_function_that_takes_a_sum_twice(function):
    """It has no constant operand, so it is no part of the convolution, and its own step does it."""
    graph, given = convolution([[0, 1, 2], [1, 2, 3]], 4, 16)
    total = graph.tasks[-1].output
    graph.pointwise(function, total, total, name="twice")
    with pytest.raises(CannotError, match="twice is no part of a depthwise convolution"):
        depthwise_of(graph.tasks, 0)
    plan = assert_lowered_bits(graph, given)
    assert [len(step.tasks) for step in plan.steps] == [len(graph.tasks) - 1, 1]


def test_an_addition_of_a_sum_to_itself_in_an_onnx_model():
    constants, nodes = onnx_taps(2)
    nodes.append(helper.make_node("Add", ["m0", "m1"], ["s"]))
    nodes.append(helper.make_node("Add", ["s", "s"], ["y"]))
    x = np.random.default_rng(9).standard_normal((8, 16)).astype(np.float16)
    assert_lowered_bits(model(nodes, {"x": (8, 16)}, **constants), {"x": x})


def test_more_operands_than_a_row_has_for_them():
    graph = Graph()
    x = graph.tensor("x", 2, 16)
    rows = [row(graph, f"w{n}", 2, 16, n) for n in range(18)]
    taken = graph.pointwise("mul", graph.gather(x, [1, 0]), rows[0])
    reduce(partial(graph.pointwise, "add"), rows[1:17], taken)
    assert len(depthwise_of(graph.tasks, 0).rows) == 16
    last = graph.pointwise("add", graph.tasks[-1].output, rows[17])
    with pytest.raises(CannotError, match=f"{last.name} is no part of a depthwise convolution"):
        depthwise_of(graph.tasks, 0)
