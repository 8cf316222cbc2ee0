"""Groups of functions that one start computes: bits, cycles, and which functions are a group."""

from __future__ import annotations

import numpy as np
import pytest

import macaw
from macaw.lowering.fim.graph import POINTWISE, Graph
from macaw.lowering.fim.option_table import option_table
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import Option, Refusal
from macaw.lowering.fim.pointwise_groups import groups
from macaw.lowering.fim.pointwise_words import Call, column_words
from macaw.lowering.fim.readers import Readers
from macaw.lowering.fim.schedule import NO_GROUPS, list_schedule, preferred_groups
from tests.lowering.fim.running import BASE, FORMAT_OF, TINY, alone, modelled, run

pytestmark = pytest.mark.usefixtures("short_search")


def numbers(*shape, seed=1, dtype=np.float16):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def cell(rows, columns, dtype=np.float16):
    """Return the graph of an LSTM cell's pointwise functions, and an array for each of its inputs.

    The bias of gate g is a constant. The results are `new_c` and `h`, each (rows, columns).
    """
    graph = Graph(FORMAT_OF[np.dtype(dtype).name])
    gates = [graph.tensor(name, rows, columns) for name in "ifgo"]
    c = graph.tensor("c", rows, columns)
    bias = graph.constant("bias", numbers(rows, columns, seed=8, dtype=dtype))
    i, f, o = (graph.pointwise("sigmoid", gates[n]) for n in (0, 1, 3))
    g = graph.pointwise("tanh", graph.pointwise("add", bias, gates[2]))
    kept = graph.pointwise("mul", f, c)
    new = graph.pointwise("add", kept, graph.pointwise("mul", i, g), name="new_c")
    graph.pointwise("mul", o, graph.pointwise("tanh", new), name="h")
    graph.result(graph.tensors["new_c"])
    graph.result(graph.tensors["h"])
    given = {
        x.name: numbers(rows, columns, seed=n, dtype=dtype) for n, x in enumerate(graph.inputs)
    }
    return graph, given


@pytest.mark.parametrize("engine", ["fast", "reference"])
@pytest.mark.parametrize(
    ("shape", "dtype"), [((3, 5), np.float16), ((9, 77), np.float16), ((5, 33), np.float32)]
)
def test_a_cell_in_one_start(shape, dtype, engine):
    graph, given = cell(shape[0], shape[1], dtype)
    stored = Readers(graph).results_of(graph.tasks)
    assert [x.name for x in stored] == ["new_c", "h"]
    rows = options(graph.tasks, BASE, graph.form, results=stored)
    (option,) = [row for row in rows if isinstance(row, Option)]
    assert option.island == 3  # the only one with sigmoid and tanh
    plan = alone(graph, option)
    done = run(plan, graph, BASE, "base", engine=engine, **given)
    for name, wanted in modelled(plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles - option.total) <= 16 + option.total // 100


@pytest.mark.parametrize("slices", [2, 3, 16])
@pytest.mark.parametrize("seed", range(6))
def test_random_functions_with_few_slices(slices, seed):
    """With few slices of Rz, results go to spare columns; an operand may be used twice."""
    rng = np.random.default_rng(seed)
    graph = Graph()
    there = [graph.tensor(name, 4, 21) for name in "abc"]
    for _ in range(9):
        name = rng.choice(["add", "sub", "mul", "relu", "div"])
        count = 1 if name == "relu" else 2
        there.append(
            graph.pointwise(str(name), *(there[n] for n in rng.integers(0, len(there), count)))
        )
    for tensor in there[3::4]:
        graph.result(tensor)
    needed = {x.name for task in graph.tasks for x in task.inputs} | {x.name for x in graph.results}
    if any(task.output.name not in needed for task in graph.tasks):
        for task in graph.tasks:
            if task.output.name not in needed:
                graph.result(task.output)
    device = TINY.changed({"fim.islands": 1, "fim.island.0.rz_slices": slices})
    device = device.changed({"fim.island.0.functions": "add sub mul div relu"})
    given = {name: numbers(4, 21, seed=n) for n, name in enumerate("abc")}
    (option,) = options(graph.tasks, device, results=Readers(graph).results_of(graph.tasks))
    assert isinstance(option, Option)
    plan = alone(graph, option)
    given = {x.name: given[x.name] for x in graph.inputs}
    done = run(plan, graph, device, "", **given)
    for name, wanted in modelled(plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)
    assert abs(done.cycles - option.total) <= 16 + option.total // 100


def test_places_of_a_column():
    """The columns of a row hold first the operands, then stored results, then spare columns.

    If no slice of Rz is free, the value whose last use is latest goes to a spare column.
    """
    calls = [Call("relu", (0,), False), Call("relu", (1,), False), Call("relu", (2,), False)]
    calls += [Call("add", (3, 4), False), Call("add", (5, 6), True)]
    words, places = column_words(3, calls, 16)
    assert places == 4
    assert words[-1].text != "mmr rz_slot, 0" or words[-2].text == "iosa[{}] <- rz"
    words, places = column_words(3, calls, 2)
    assert places == 5
    assert [word.place for word in words if word.text == "iosa[{}] <- rz"] == [4, 3]
    assert words[0].at(6, 5).text == "rop <- iosa[5]"


def test_a_row_has_room_for_32_columns():
    graph = Graph()
    tensors = [graph.tensor(f"x{n}", 2, 16) for n in range(32)]
    total = tensors[0]
    for tensor in tensors[1:]:
        total = graph.pointwise("add", total, tensor)
    rows = options(graph.tasks, TINY)
    (refusal,) = {row.why for row in rows if isinstance(row, Refusal)}
    assert refusal == "the operands and results take 33 columns, a row has 32"


def names(found):
    return [[task.output.name for task in group] for group in found]


def test_groups_of_a_graph():
    """Which functions form a group depends on paths between tasks and on islands' functions.

    A path from one task of a group to another one must not leave the group.
    """
    graph = Graph()
    x, w = graph.tensor("x", 8, 8), graph.constant("w", numbers(8, 8))
    a = graph.pointwise("sigmoid", x, name="a")
    b = graph.pointwise("relu", a, name="b")
    c = graph.pointwise("mul", graph.product(b, w, name="p"), a, name="c")
    graph.pointwise("tanh", graph.view(c, 4, 16, name="v"), name="d")
    graph.pointwise("tanh", graph.view(c, 4, 8, name="half"), name="e")
    found = names(groups(graph, BASE, ()))
    assert found == [["c", "d"]]  # a and c: b and p are between; e reads a part of c
    every = BASE.changed({"fim.islands": 5})
    assert sorted(names(groups(graph, every, ()))) == [["a", "b"], ["c", "d"]]
    assert names(groups(graph, every, [[graph.tasks[3]]])) == [["a", "b"], ["c", "d"]]


def test_preferred_groups_are_disjoint_and_save_cycles():
    graph, _ = cell(8, 64)

    def ask(unit, config):
        return options(unit, config, results=Readers(graph).results_of(unit))

    table = option_table(graph, BASE, ask)
    chosen = preferred_groups(table, (), longest=False)
    assert set(chosen) == set(graph.tasks)
    (option,) = list_schedule(table, chosen, weight=0, shorter=0)
    assert option.tasks == tuple(graph.tasks)


def test_a_list_that_spares_the_dma():
    """If `list_schedule` weighs copies, it prefers options that copy less but compute longer."""
    graph = Graph()
    graph.product(graph.tensor("a", 4, 4), graph.tensor("b", 4, 4))

    def ask(unit, _config):
        return [Option(unit, 0, 1, 400, 100, 0, banks=1), Option(unit, 1, 1, 100, 500, 0, banks=1)]

    table = option_table(graph, BASE, ask)
    assert [row.island for row in list_schedule(table, NO_GROUPS, weight=0, shorter=0)] == [0]
    assert [row.island for row in list_schedule(table, NO_GROUPS, weight=1, shorter=0)] == [1]


def test_recurrent_cells():
    """One start computes all functions of a cell's time step; a constant is stored once."""
    graph = Graph()
    h, one = graph.tensor("h", 2, 32), graph.constant("one", np.ones((2, 32), np.float16))
    weights = {
        side + gate: graph.constant(side + gate, numbers(32, 32, seed=n) / 8)
        for n, (side, gate) in enumerate((s, g) for s in "wu" for g in "rzn")
    }
    for step in range(2):
        h = graph.gru(graph.tensor(f"x{step}", 2, 32), h, weights, one)
    given = {x.name: numbers(2, 32, seed=n) for n, x in enumerate(graph.inputs)}
    lowered = macaw.lower_graph(graph)
    kinds = [{task.kind for task in step.tasks} for step in lowered.plan.steps]
    assert kinds.count({POINTWISE}) == 2
    assert sum(file.endswith("_ab.npy") for file in lowered.files) == 1
    measured = lowered.measure(given)
    for name, wanted in modelled(lowered.plan, graph, given).items():
        np.testing.assert_array_equal(measured.outputs[name], wanted)
    assert abs(lowered.cycles / measured.cycles - 1) < 0.08  # steps of some hundred cycles
    late = macaw.lower_graph(graph, dynamic=True).measure(given)
    assert late.error < 0.01
    apart = macaw.lower_graph(graph, together=False)
    assert apart.cycles > 1.2 * lowered.cycles


def test_a_part_of_an_output_is_no_operand_of_the_same_start():
    """The greater of two halves of a sum: the sum ends before a start reads its halves."""
    graph = Graph()
    a, b = (graph.tensor(name, 4, 33) for name in "ab")
    total = graph.pointwise("add", a, b, name="total")
    halves = [graph.view(total, 2, 33, offset) for offset in (0, 66)]
    graph.pointwise("max", *halves, name="y")
    rows = options(graph.tasks, BASE, graph.form)
    whys = {row.why for row in rows if isinstance(row, Refusal)}
    assert not any(isinstance(row, Option) for row in rows)
    assert whys == {f"{halves[0].name} is a part of another output of the same start"}
    given = {"a": numbers(4, 33), "b": numbers(4, 33, seed=2)}
    found = macaw.lower_graph(graph, device="base")
    done = macaw.run(found.assemble(), given)
    wanted = given["a"] + given["b"]
    np.testing.assert_array_equal(done.outputs["y"], np.maximum(wanted[:2], wanted[2:]))
