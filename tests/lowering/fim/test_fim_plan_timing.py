"""The predicted times of a plan: exact in hand calculations, near the emulator's for chains."""

from itertools import pairwise

import pytest

import macaw
from macaw.lowering.fim.bank_timing import ANY, BankTiming
from macaw.lowering.fim.clock import simulate
from macaw.lowering.fim.dma_timing import EXTERNAL, ISLAND, Copy, DmaTiming, Location
from macaw.lowering.fim.graph import Graph
from macaw.lowering.fim.island_job import copies
from macaw.lowering.fim.plan import FETCH
from tests.lowering.fim.running import BASE

COLUMN = 32
TO_BANK = Copy(Location(ISLAND), Location(EXTERNAL, "x"), COLUMN)
FROM_BANK = Copy(Location(EXTERNAL, "x"), Location(ISLAND), COLUMN)


def chain(length):
    """`length` functions of 3 x 6 numbers, each of the result of the one before it."""
    graph = Graph()
    x = graph.tensor("x", 3, 6)
    for _ in range(length):
        x = graph.pointwise("relu", graph.pointwise("add", x, x))
    return graph


def test_a_row_that_is_open_takes_no_activation():
    """On base, an activation delays the read of a column by tRCDRD = 11 cycles."""
    ends = []
    for row in (ANY, 0, 1):
        banks = BankTiming(BASE, row)
        ends.append(DmaTiming(BASE, {0: banks}).copy(FROM_BANK, 0))
    assert ends[0] == ends[1]
    rcd, rp = int(BASE["fim.t_rcdrd"]), int(BASE["fim.t_rp"])
    assert ends[2] - ends[1] == rp + rcd


def test_a_copy_waits_for_the_blocks_in_its_banks_only_with_its_first_access():
    """The dma reads external memory while blocks run: only the write waits.

    The column arrives in cycle 4 + 21 = 25 (`dma.setup`, the latency of 20 and a beat).
    """
    ends = []
    for until in (0, 25, 26, 100):
        banks = BankTiming(BASE, ANY)
        banks.reserve([0], until)
        ends.append(DmaTiming(BASE, {0: banks}).copy(TO_BANK, 0))
    assert [end - ends[0] for end in ends] == [0, 0, 1, 75]
    banks = BankTiming(BASE, ANY)
    banks.reserve([1], 100)  # another bank
    assert DmaTiming(BASE, {0: banks}).copy(TO_BANK, 0) == ends[0]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_chains_take_the_predicted_cycles(length):
    """The run and all of its steps take exactly the predicted cycles."""
    found = macaw.lower_graph(chain(length), together=False)
    measured = found.measure(seed=1)
    assert measured.cycles == found.cycles
    starts = {action.step: action for action in found.plan.actions if action.kind == "start"}
    assert len(measured.steps) == len(starts)
    for step in measured.steps:
        assert starts[step.number].begin == step.begin
        assert abs(starts[step.number].end - step.end) <= 1


def product():
    """A product of two inputs, which 28 copies bring to banks of base."""
    graph = Graph()
    graph.product(graph.tensor("a", 20, 40), graph.tensor("b", 40, 30))
    return graph


@pytest.mark.few(4)
@pytest.mark.usefixtures("short_search")
@pytest.mark.parametrize("divider", [1, 2, 3])
@pytest.mark.parametrize("queue", [1, 2, 4, 8, 16])
def test_the_prediction_knows_how_long_cp_waits_for_room_in_the_queue(queue, divider):
    """The queue also holds the copy that runs; a cp with a slow clock waits for whole cycles."""
    device = BASE.changed({"dma.queue": queue, "cp.divider": divider})
    for graph in (chain(3), product()):
        found = macaw.lower_graph(graph, device=device, together=False)
        assert found.measure(seed=1).cycles == found.cycles
    (step,) = found.plan.steps
    (phase,) = step.option.job.phases()
    assert len(copies(tuple(phase.bring))) == 28


def test_the_prediction_knows_what_earlier_steps_leave():
    """The sum of the steps' own cycles is too high: they find rows open, and the dma set up."""
    found = macaw.lower_graph(chain(5), together=False)
    assert found.cycles < simulate(found.plan.issued).clock.end
    assert found.least_cycles <= found.measure().cycles


def test_the_actions_are_in_order_and_end_with_the_plan():
    """Copies follow one another; the program ends four instructions after the last copy."""
    found = macaw.lower_graph(chain(3), together=False)
    moves = [row for row in found.plan.actions if row.kind in ("bring", FETCH)]
    for earlier, later in pairwise(moves):
        assert earlier.begin <= earlier.end <= later.end
    assert found.cycles == max(row.end for row in moves) + 4
