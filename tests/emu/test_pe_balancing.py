"""Load balancing between neighbours: a mac by hand, results, cycles, the speed-up on skewed rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.pe_balancing import DENSITIES, average
from tests.emu.pe_builder import Machine, Unit, machine_of_product
from tests.emu.pe_rows import field_reader, states_after

pytestmark = pytest.mark.once


def work(machine: Machine) -> int:
    """The cycles of the mac."""
    counters, shape = machine.row.counters(), machine.row.shape
    names = ("mac", "filling", "no_load", "handing", "early")
    found = sum(counters[f"cycles_{name}"] for name in names)
    return found // (shape.clusters * shape.pes)


def test_a_balanced_mac_cycle_by_cycle() -> None:
    """A balanced mac has the calculated state in each cycle (seed 000 ¶100-102).

    PE 0 has no weights; PE 1 has weights 1 to 6 for activations 10, 20, ..., 60.
    """
    weights = [[0] * 6, [1, 2, 3, 4, 5, 6]]
    machine = machine_of_product(weights, [10, 20, 30, 40, 50, 60], True)
    # Config: 21 bytes in cycle 4, instructions 5 and 6. Exe: 1 + 2 + 2 + 18 + 6 bytes in cycle 7.
    # ld 10, mac 11. What stands in PE 1's queues 1 and 2, then in PE 0's, after each cycle:
    #   11: 505 finds loads 0, 1.
    #   12: 0 to queue 2; queue 1 has 2, PE 0's 0: 1 is given. 505: 2, 3.
    #   13: MAC 1: 0. 2 to queue 2; queue 1 has 2, PE 0's 1: none is given. PE 0: 1 to queue 2.
    #       505: 4, 5.
    #   14: MAC 1: 2. 3 to queue 2; queue 1 has 3, PE 0's none: 4 is given. MAC 0: 1.
    #   15: MAC 1: 3. 5 to queue 2. PE 0: 4 to queue 2. 16: MAC 1: 5; MAC 0: 4. 17: handing over.
    one = states_after(machine, 11, 17, field_reader("q1_count q2_count accumulators", 0, 1))
    zero = [
        (int(s.q1_count[0, 0]), int(s.q2_count[0, 0]), int(s.helpers[0, 0, 1]))
        for s in _again(weights, 11, 17)
    ]
    assert [row[:2] for row in one] == [(2, 0), (2, 1), (3, 1), (1, 1), (0, 1), (0, 0), (0, 0)]
    assert zero == [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 0, 40), (0, 1, 40), (0, 0, 290), (0, 0, 0)]
    machine.run()
    assert machine.row.state.accumulators[0, :, 1].tolist() == [0, 910]
    state = machine.row.state
    assert state.loads_given[0].tolist() == [0, 2]
    assert state.loads_taken[0].tolist() == [2, 0]
    assert state.cycles_mac[0].tolist() == [2, 4]
    assert state.cycles_handing[0].tolist() == [1, 1]
    assert state.cycles_filling[0].tolist() == [1, 2]  # PE 0: the cycle in which its queue holds 1
    assert state.cycles_no_load[0].tolist() == [1, 0]
    assert state.cycles_early[0].tolist() == [2, 0]
    assert work(machine) == 7  # 11 to 17; without balancing 8
    plain = machine_of_product(weights, [10, 20, 30, 40, 50, 60], False)
    plain.run()
    assert work(plain) == 8


def _again(weights: Any, first: int, last: int) -> Any:
    machine = machine_of_product(weights, [10, 20, 30, 40, 50, 60], True)
    for cycle in range(first, last + 1):
        yield machine.at(cycle + 1)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(3, 12), st.integers(1, 4))
def test_results_stay_and_the_loss_is_bounded(
    seed: int, pes: int, depth: int, threshold: int
) -> None:
    """Balancing changes no result, and adds at most a few cycles (seed 000 ¶101)."""
    rng = np.random.default_rng(seed)
    share = rng.random((pes, 1)) ** rng.integers(1, 4)
    weights = rng.integers(-100, 100, (pes, 50)) * (rng.random((pes, 50)) < share)
    x = rng.integers(-100, 100, 50) * (rng.random(50) < rng.random())
    config = {"pe.load_queue_1": depth, "pe.balance_threshold": threshold}
    plain, helped = (machine_of_product(weights, x, balance, **config) for balance in (False, True))
    plain.run()
    helped.run()
    for machine in (plain, helped):
        assert machine.row.state.accumulators[0, :, 1].tolist() == (weights @ x).tolist()
        assert not machine.row.state.helpers.any()
    counters = helped.row.counters()
    assert counters["loads_given"] == counters["loads_taken"]
    assert counters["loads_given"] <= counters["effectual_loads"] == counters["macs"]
    assert helped.row.state.loads_given[0, 0] == 0  # PE 0 never gives
    assert work(helped) <= work(plain) + counters["loads_given"] + bool(counters["loads_given"])


def test_a_queue_of_two_places_gives_nothing() -> None:
    machine = machine_of_product([[0] * 9, [1] * 9], [1] * 9, True, **{"pe.load_queue_1": 2})
    machine.run()
    assert machine.row.counters()["loads_given"] == 0


@pytest.mark.parametrize("density", DENSITIES[::4])
def test_rows_that_differ_twofold_are_faster(density: float) -> None:
    speed_up, without, with_it = average(density, 1.0, 1)
    assert speed_up > 1.15
    assert with_it > without + 0.1


def test_clusters_balance_by_themselves() -> None:
    """Clusters balance separately: PE 0 of cluster 1 gives nothing, though cluster 0 is idle."""
    unit = Unit({"pe.clusters": 2, "pe.pes": 2})
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0", clusters=1)
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0 balance", clusters=2)
    weights = np.array([[0] * 20, [1] * 20, [1] * 20, [1] * 20])
    unit.exe(0, unit.weights(weights), unit.dense([1] * 20))
    machine = unit.machine()
    machine.run()
    assert machine.row.state.loads_given.tolist() == [[0, 0], [0, 0]]
    assert machine.row.state.accumulators[:, :, 0].tolist() == [[0, 20], [20, 20]]


@pytest.mark.parametrize("overflow", ["fault", "saturate", "wrap"])
def test_a_sum_that_overflows_when_it_is_handed_over(overflow: str) -> None:
    """If adding a helper's sum overflows, the PE saturates, wraps or faults (seed 000 ¶102)."""
    unit = Unit({"pe.clusters": 1, "pe.pes": 2, "pe.overflow": overflow})
    unit.config_packet(0, "ld psums base=0", "ld both base=0", "mac base=0 acc=0 balance")
    most = 2**31 - 1
    unit.exe(
        0,
        unit.psums(np.array([0, most - 8])),
        unit.weights(np.array([[0] * 12, [1] * 12])),
        unit.dense([1] * 12),
    )
    machine = unit.machine()
    stop = machine.device.run()
    if overflow == "fault":
        assert stop.fault is not None
        assert stop.fault.kind == "accumulator overflow"
        assert stop.fault.address == 0x1000_2000 + 16 + 4
        assert "is handed over" in stop.fault.message
        return
    wanted = most if overflow == "saturate" else most - 8 + 12 - 2**32
    assert machine.row.state.accumulators[0, :, 0].tolist() == [0, wanted]
