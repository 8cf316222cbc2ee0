"""Constants that stay in the banks: their places, the copies that they save, and that they stay."""

from __future__ import annotations

import click
import numpy as np
import pytest

import macaw
from macaw.commands.lower_fim import budget
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.isa.fim_islands import geometry, island_address
from macaw.lowering.fim import residency
from macaw.lowering.fim.bank_images import BankRows
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.options import options
from macaw.lowering.fim.plan import START, Option
from tests.lowering.fim.running import TINY, alone, modelled, run

pytestmark = pytest.mark.usefixtures("short_search")


def numbers(*shape, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) / 4).astype(np.float16)


def layer(m=5, k=37, n=30):
    """A graph of relu(x w + b), and its inputs."""
    graph = Graph()
    y = graph.product(graph.tensor("x", m, k), graph.constant("w", numbers(k, n)))
    bias = graph.constant("b", np.repeat(numbers(1, n, seed=2), m, axis=0))
    graph.pointwise("relu", graph.pointwise("add", y, bias), name="y")
    return graph, {"x": numbers(m, k, seed=3)}


def known_left():
    """A graph of a constant times an input, as in a convolution, and its inputs."""
    graph = Graph()
    graph.product(graph.constant("w", numbers(18, 20)), graph.tensor("x", 20, 35), name="y")
    return graph, {"x": numbers(20, 35, seed=3)}


def chain():
    """A graph of (x w) v, which becomes a pair, and its inputs."""
    graph = Graph()
    y = graph.product(graph.tensor("x", 20, 18), graph.constant("w", numbers(18, 16)))
    graph.product(y, graph.constant("v", numbers(16, 20, seed=2)), name="y")
    return graph, {"x": numbers(20, 18, seed=3)}


def function():
    """A graph with a constant as the left operand of a function, and its inputs."""
    graph = Graph()
    graph.pointwise(
        "sub", graph.constant("w", numbers(31, 53)), graph.tensor("x", 31, 53), name="y"
    )
    return graph, {"x": numbers(31, 53, seed=3)}


@pytest.mark.parametrize("make", [layer, known_left, chain, function])
def test_every_option_with_constants_that_stay(make):
    """Options with resident constants have right bits and cycles, and keep the constants."""
    graph, given = make()
    device = TINY
    memory = geometry(device)
    found = options(graph.tasks, device, place=BankRows(memory.rows, memory.rows // 2, True))
    there = [row for row in found if isinstance(row, Option)]
    assert there
    for option in there:
        plan = alone(graph, option)
        plan = type(plan)(graph, residency.with_rows(plan.steps, memory.rows), plan.actions, 0)
        assert plan.steps[0].option.job.row == memory.rows // 2
        done = run(plan, graph, device, device.name, **given)
        for name, wanted in modelled(plan, graph, given).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
        assert abs(done.cycles - option.total) <= 16 + option.total // 500
        for placed in residency.images(plan.steps):
            if make is function:
                continue  # operands and results are in the same rows
            for bank, index in placed.image.places:
                start = island_address(placed.island) + bank * memory.bank_bytes + placed.row * 1024
                wanted = placed.image.array[index].tobytes()
                assert done.device.memory.peek(start, len(wanted)) == wanted


@pytest.mark.parametrize("make", [layer, known_left, chain, function])
def test_runs_on_one_device_load_the_constants_once(make):
    """A second run on the same device loads only its new inputs."""
    graph, given = make()
    found = macaw.lower_graph(graph, device=TINY)
    assert found.resident_bytes
    program = found.assemble()
    device = Device(TINY)
    device.load(program)
    cycles = []
    for seed in (3, 4):
        before = device.cycle
        x = numbers(*given["x"].shape, seed=seed)
        device.write_tensor("x", x)
        assert device.run().reason == "exit"
        cycles.append(device.cycle - before)
        wanted = modelled(found.plan, graph, {"x": x})["y"]
        np.testing.assert_array_equal(device.read_tensor("y"), wanted)
        device.stopped = None  # the host starts cp again, and loads nothing
        assert program.entry is not None
        device.start(0, program.entry, device.cycle)
    assert abs(cycles[0] - cycles[1]) < 50


def test_they_save_the_copies():
    """With resident weights, a matrix-vector product takes little more than its blocks' cycles.

    Without resident weights, the product takes far more cycles.
    """
    graph = Graph()
    graph.product(graph.tensor("x", 1, 128), graph.constant("w", numbers(128, 128)), name="y")
    device = TINY.changed({"fim.islands": 1})
    stays, comes = (macaw.lower_graph(graph, device=device, resident=x) for x in (0.5, 0))
    assert (comes.resident_bytes, stays.resident_bytes >= 2 * 128 * 128) == (0, True)
    (step,) = stays.plan.steps
    assert step.option.bring < comes.plan.steps[0].option.bring / 20
    done = stays.measure()
    assert abs(done.cycles / stays.cycles - 1) < 0.01
    assert done.cycles < comes.cycles / 2


@pytest.mark.long
def test_a_large_matrix_vector_product():
    """A product of 1024 x 1024 takes at most 1.15 times the cycles of its blocks (issue 21)."""
    graph = Graph()
    graph.product(graph.tensor("x", 1, 1024), graph.constant("w", numbers(1024, 1024)), name="y")
    found = macaw.lower_graph(graph)
    x = numbers(1, 1024, seed=2)
    done = found.measure({"x": x})
    np.testing.assert_array_equal(done.outputs["y"], modelled(found.plan, graph, {"x": x})["y"])
    compute = sum(step.end - step.begin for step in done.steps)
    assert done.cycles <= 1.15 * compute
    assert abs(done.cycles / found.cycles - 1) < 0.001


def repeated(steps=4):
    """A graph with the same weights in each step, as in a recurrent layer."""
    graph = Graph()
    x, w = graph.tensor("x", 3, 16), graph.constant("w", numbers(16, 16))
    for number in range(steps):
        x = graph.pointwise("tanh", graph.product(x, w, f"p{number}"), name=f"x{number}")
    return graph


def test_steps_share_their_constants():
    graph = repeated()
    found = macaw.lower_graph(graph, device=TINY, together=False)
    kinds = {(x.option.island, x.option.layout) for x in found.plan.steps if x.option.residency}
    images = list(residency.images(found.plan.steps))
    assert len(images) == len(kinds) < 4
    x = numbers(3, 16, seed=5)
    done = found.measure({"x": x})
    np.testing.assert_array_equal(done.outputs["x3"], modelled(found.plan, graph, {"x": x})["x3"])


def sides():
    """A graph with the same square weights as left and as right operand."""
    graph = Graph()
    w = graph.constant("w", numbers(16, 16))
    graph.product(w, graph.tensor("x", 16, 16), name="y")
    graph.product(graph.tensor("z", 16, 16), w, name="v")
    return graph


def chains():
    """A graph with the same square weights as first, second and third operand of chains."""
    graph = Graph()
    w = graph.constant("w", numbers(16, 16))
    for number, place in enumerate(range(3)):
        a, b, c = (
            w if operand == place else graph.tensor(f"x{number}{operand}", 16, 16)
            for operand in range(3)
        )
        graph.product(graph.product(a, b, f"p{number}"), c, name=f"y{number}")
    return graph


@pytest.mark.parametrize(("make", "together"), [(sides, False), (chains, True)])
def test_operands_of_different_sides_have_rows_of_their_own(make, together):
    """A constant that is used on different sides is stored once for each side.

    The sides need the tiles in different orders, though numbers and tilings are the same.
    """
    graph, device = make(), TINY.changed({"fim.islands": 1})
    found = macaw.lower_graph(graph, device=device, together=together)
    given = {
        tensor.name: numbers(16, 16, seed=seed) for seed, tensor in enumerate(graph.inputs, 20)
    }
    done = found.measure(given)
    for name, wanted in modelled(found.plan, graph, given).items():
        np.testing.assert_array_equal(done.outputs[name], wanted)


def test_a_budget_for_a_part_of_the_constants():
    """If the room for constants is limited, the weights of fewer layers stay; bits are equal.

    The plan's reasons say if weights stay.
    """
    graph = Graph()
    x = graph.tensor("x", 2, 40)
    for number in range(3):
        weights = graph.constant(f"w{number}", numbers(40, 40, seed=number))
        x = graph.product(x, weights, name=f"y{number}")
        graph.result(x)
    device = TINY.changed({"fim.islands": 1})
    rows = geometry(device).banks * 1024
    given, bytes_of = {"x": numbers(2, 40, seed=9)}, []
    for most in (0, rows, 2 * rows, 4 * rows, 0.5):
        found = macaw.lower_graph(graph, device=device, resident=most)
        bytes_of.append(found.resident_bytes)
        done = found.measure(given)
        for name, wanted in modelled(found.plan, graph, given).items():
            np.testing.assert_array_equal(done.outputs[name], wanted)
        of_steps = [step.option.residency for step in found.plan.steps]
        reserved = sum(row.rows for row in of_steps if row is not None)
        assert reserved <= residency.reserved_rows(most, geometry(device))
        said = any("stay in" in line for line in found.reasons())
        assert said == bool(found.resident_bytes)
    assert bytes_of[0] == 0 < bytes_of[-1]
    assert bytes_of == sorted(bytes_of)
    assert 0 < bytes_of[2] < bytes_of[-1] or 0 < bytes_of[3] < bytes_of[-1]


def test_budgets_that_there_are_not():
    graph, _ = layer()
    with pytest.raises(InputError, match=r"^a share of 1\.5 of the banks") as caught:
        macaw.lower_graph(graph, resident=1.5)
    assert caught.value.hint == "a share is 0.0 to 1.0"
    with pytest.raises(InputError, match=r"^constants of -1 bytes in the banks") as caught:
        macaw.lower_graph(graph, resident=-1)
    assert caught.value.hint == "0 bytes at least"


def test_budgets_of_the_command():
    assert [budget(word) for word in ("0", "4096", "25%", "100%")] == [0, 4096, 0.25, 1.0]
    for word in ("", "%", "-1", "0.5", "5 %"):
        with pytest.raises(click.UsageError, match=r"is not of the form BYTES or N%$"):
            budget(word)
    with pytest.raises(click.UsageError, match=r"^--resident 101%: a share is 100% at most$"):
        budget("101%")


def test_at_run_time_no_constant_stays():
    graph, _ = layer()
    found = macaw.lower_graph(graph, device=TINY, dynamic=True)
    assert found.resident_bytes == 0
    assert found.plan.action(START, 0).begin
