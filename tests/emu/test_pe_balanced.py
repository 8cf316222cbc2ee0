"""In balanced macs, the fast engine has the reference's state in every cycle."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.pe import build
from macaw.emu.pe.fast import mac_plans
from macaw.emu.pe.fast.balanced_plan import BalancedPlan, settle
from macaw.emu.pe.fast.row import FastRow
from macaw.emu.pe.reference.datapath import Datapath
from macaw.isa.config import Configuration
from macaw.isa.pe import END_OF_LIST
from tests.emu.pe_builder import TINY, Machine, Unit
from tests.emu.pe_engine_pairs import (
    ENGINE_PAIRS,
    PAUSES,
    SEEDS,
    machines_of_engines,
    run_and_compare,
    state_differences,
    stop_summary,
)
from tests.emu.pe_random_layers import Layer, build_layer, random_layers
from tests.emu.pe_random_lists import content_hashes

pytestmark = pytest.mark.once


def datapath_of(machine: Machine) -> Datapath:
    """The data path in which the fast engine simulates macs that it cannot plan."""
    assert isinstance(machine.row, FastRow)
    return machine.row.macs.by_cycle.datapath


def planned(unit: Unit) -> tuple[Machine, Machine]:
    """The unit in a device of each engine.

    The test fails if the fast engine simulates a mac cycle by cycle.
    """
    quick, reference = machines_of_engines(unit)

    def cycle() -> list[int]:
        raise AssertionError("a mac runs cycle by cycle")

    datapath_of(quick).cycle = cycle
    return quick, reference


@settings(ENGINE_PAIRS, max_examples=12)
@given(random_layers(), PAUSES)
def test_layers_that_balance(layer: Layer, pauses: list[int]) -> None:
    """Both engines agree on random balanced layers of all element types and overflow modes.

    Queue depths and thresholds differ, too. No sum comes near the ends of its range.
    """
    layer = dataclasses.replace(layer, config=layer.config | {"pe.design": "5b"}, balance=True)
    unit = build_layer(layer).machine.unit
    quick, _ = run_and_compare(unit, pauses, planned(unit))
    assert not quick.row.state.helpers.any()


def skewed(
    config: dict[str, Any], seed: int, macs: int, zeros: float = 0.0, balance: float = 1.0
) -> Unit:
    """A program of two buffers with several macs each, and weights of very different density."""
    rng = np.random.default_rng(seed)
    unit = Unit({"pe.overflow": "wrap", **config})
    clusters, pes = int(unit.configuration["pe.clusters"]), int(unit.configuration["pe.pes"])
    lines = [
        f"mac base={n % 2} acc={n % 4}{' balance' * bool(rng.random() < balance)}"
        for n in range(macs)
    ]
    for ib in (2, 5):
        unit.config_packet(ib, "ld activations base=0", "ld weights", *lines)
    for ib in (2, 5):
        share = rng.random((clusters * pes, 1)) ** 2
        weights = rng.integers(-9, 10, (clusters * pes, 70)) * (
            rng.random((clusters * pes, 70)) < share
        )
        x = rng.integers(-9, 10, 600) * (rng.random(600) >= zeros)
        unit.exe(ib, unit.dense(x), unit.weights(weights))
    return unit


@settings(ENGINE_PAIRS, max_examples=12)
@given(SEEDS, PAUSES, st.integers(2, 9), st.integers(1, 3), st.integers(1, 4))
def test_clusters_that_go_on_apart(
    seed: int, pauses: list[int], depth: int, second: int, threshold: int
) -> None:
    """Both engines agree if clusters begin their next macs at different times, balanced or not."""
    queues = {
        "pe.load_queue_1": depth,
        "pe.load_queue_2": second,
        "pe.balance_threshold": threshold,
    }
    unit = skewed({"pe.clusters": 3, "pe.pes": 5, **queues}, seed, 4, 0.3, 0.8)
    run_and_compare(unit, pauses, planned(unit))


# Depths of the load queues (numbers of each width), and the threshold.
QUEUES = [(2, 1, 1), (3, 1, 1), (3, 2, 2), (8, 1, 1), (8, 2, 2), (8, 2, 70), (11, 2, 5), (64, 3, 2)]


@pytest.mark.few(4)
@pytest.mark.parametrize(("depth", "second", "threshold"), QUEUES)
def test_every_cycle(depth: int, second: int, threshold: int) -> None:
    """The engines agree in every cycle of a balanced mac, for each queue depth and threshold."""
    config = {"pe.load_queue_1": depth, "pe.load_queue_2": second}
    unit = skewed(config | {"pe.balance_threshold": threshold}, 5, 1)
    quick, reference = planned(unit)
    while quick.row.running:
        for machine in (quick, reference):
            machine.run(max_cycles=1)
        assert not state_differences(quick.device, reference.device)
    given_away = quick.row.counters()["loads_given"]
    assert bool(given_away) == (depth > 2 and threshold <= depth)


def test_a_queue_too_deep_is_simulated_by_cycle() -> None:
    unit = skewed({"pe.load_queue_1": 65}, 1, 1)
    calls = []
    quick, reference = machines_of_engines(unit)
    datapath = datapath_of(quick)
    cycle = datapath.cycle

    def counted() -> list[int]:
        calls.append(1)
        return cycle()

    datapath.cycle = counted
    for machine in (quick, reference):
        machine.run()
    assert calls
    assert content_hashes(quick.device) == content_hashes(reference.device)


def floating(seed: int) -> Unit:
    """A product of floating numbers whose sum depends on the order of addition."""
    rng = np.random.default_rng(seed)
    unit = Unit({"pe.element": "fp32", "pe.clusters": 1, "pe.pes": 4})
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=1 balance", "mac base=0 acc=1 balance")
    weights = rng.normal(0, 1, (4, 90)) * 10.0 ** rng.integers(-9, 9, (4, 90))
    weights *= rng.random((4, 90)) < np.array([[0.1], [0.9], [0.3], [1]])
    unit.exe(0, unit.weights(weights), unit.dense(rng.normal(0, 1, 90)))
    return unit


@pytest.mark.parametrize("seed", range(3))
def test_floating_sums_are_added_in_the_order_of_the_loads(seed: int) -> None:
    unit = floating(seed)
    quick, reference = run_and_compare(unit, [30, 20, 20], planned(unit))
    state = quick.row.state
    assert state.loads_given.sum() > 10
    assert state.accumulators.tobytes() == reference.row.state.accumulators.tobytes()


def test_rows_are_settled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """One call settles the macs of both rows, when a mac begins and when one ends."""
    unit = skewed({"pe.clusters": 2, "pe.pes": 4}, 8, 3)
    config = Configuration("two", TINY | unit.config | {"pe.rows": 2})
    settled: list[list[BalancedPlan]] = []

    def noted(plans: list[BalancedPlan]) -> None:
        settled.append(list(plans))
        settle(plans)

    monkeypatch.setattr(mac_plans, "settle", noted)
    found = []
    for engine in ENGINES:
        device = Device(config, [build], engine)
        for row in range(2):
            half = device.memory.feeding_address(row)
            device.memory.poke(half, bytes(unit.packets) + bytes([END_OF_LIST]))
            device.memory.poke(half + unit.data_at, bytes(unit.data))
        device.dispatch(0b11, 0, 0)
        assert device.run().fault is None
        found.append(content_hashes(device))
    assert found[0] == found[1]
    rows = [{id(plan.state) for plan in plans} for plans in settled]
    assert max(map(len, rows)) == 2
    assert all(plan.settlement is not None for plans in settled for plan in plans)


def test_a_lockstep_group_after_balanced_macs() -> None:
    """A lockstep group forms after balanced macs; its own macs do not balance."""
    unit = Unit({"pe.overflow": "wrap"})
    unit.config_packet(0, "ld both base=0", "mac base=0 acc=0 balance")
    lines = "ld weights", "ld activations base=0", "mac base=0 acc=1", "spu nonsf src=1 dst=0"
    steps = [(2, 0, 1, 0), (3, 1, 1, 0)]
    unit.config_packet(4, *lines, state=1, pipeline=4, inner=6, steps=steps)
    weights = np.ones((8, 20)) * (np.arange(8) % 2)[:, None]
    unit.exe(0, unit.weights(weights), unit.dense(np.ones(20)))
    unit.exe(4, unit.weights(weights), unit.dense(np.ones(40)))
    quick, reference = machines_of_engines(unit)
    for machine in (quick, reference):
        machine.run()
    assert isinstance(quick.row, FastRow)
    assert quick.row.controls.groups == 1
    assert reference.row.state.loads_given.any()
    assert not state_differences(quick.device, reference.device)


def overflowing(balance: str, handing: bool) -> Unit:
    """A program whose sum leaves the range: at a product, or when a helper's sum is added."""
    unit = Unit({"pe.clusters": 1, "pe.pes": 2})
    unit.config_packet(0, "ld psums base=0", "ld both base=0", f"mac base=0 acc=0 {balance}")
    first = np.array([0, 2**31 - 1 - (8 if handing else 3)])
    weights = np.array([[0] * 12, [1] * 12])
    unit.exe(0, unit.psums(first), unit.weights(weights), unit.dense([1] * 12))
    return unit


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("balance", "handing"), [("", False), ("balance", False), ("balance", True)]
)
def test_nobody_runs_on_behind_an_overflow(engine: str, balance: str, handing: bool) -> None:
    """After an overflow no core goes on; each run repeats the fault until the device is reset."""
    device = overflowing(balance, handing).machine(engine=engine).device
    stop = device.run()
    assert stop.fault is not None
    assert stop.fault.kind == "accumulator overflow"
    assert ("handed over" in stop.fault.message) == handing
    mark = device.hash()
    assert device.run() is stop
    other = overflowing(balance, handing).machine(engine=ENGINES[engine == ENGINES[0]]).device
    for again in (device, other):
        again.restore(device.snapshot())
        assert stop_summary(again.run()) == stop_summary(stop)
        assert again.hash() == mark
        again.stopped = None  # by force: the row itself refuses the cycle
        assert stop_summary(again.run()) == stop_summary(stop)
        assert again.hash() == mark
