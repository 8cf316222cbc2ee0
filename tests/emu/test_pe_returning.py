"""The return bus in the fast engine: beats in one go are the reference's, one by one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.isa.pe import ACCUMULATORS, BLOCKS
from tests.emu.pe_builder import Unit
from tests.emu.test_pe_engines import differences, fast_row, hook, machines, said
from tests.emu.test_pe_programs import contents
from tests.emu.toys import HALF, UNIT, toy

EXAMPLES = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
PES = 4


def storing(pick: random.Random, **config: Any) -> Unit:
    """Clusters that store what was loaded, several at once, in beats of all shapes."""
    clusters = pick.choice([1, 2, 3, 4])
    unit = Unit({"pe.clusters": clusters, "pe.output_queue": ACCUMULATORS * BLOCKS, **config})
    block = ACCUMULATORS  # elements of a block of the output queue
    for ib in range(pick.randrange(1, 4)):
        mask = pick.randrange(1, 1 << clusters)
        pes = PES * mask.bit_count()
        blocks = pick.choice([1, 5, 12])
        loads = [f"ld psums base={base}" for base in range(blocks)]
        unit.config_packet(ib, *loads, "st base=0", *["st base=0"] * pick.randrange(2))
        sums = [unit.psums(np.arange(pes * block) + 1000 * n) for n in range(blocks)]
        count = pick.randrange(1, blocks * block + 1)
        step = pick.choice([4, 4, 4, 8, 36])
        stride = pick.choice([count * step, 4, count * step + 20, 0])
        out = unit.out(32768, "int32", count=count, step=step, stride=stride)
        unit.exe(ib, *sums, out=out, clusters=mask, last=1)
    return unit


@EXAMPLES
@given(st.data(), st.lists(st.integers(1, 80), max_size=6))
def test_others_in_the_half(data: st.DataObject, pauses: list[int]) -> None:
    """Another core reads and writes where results go, before or after the row in a cycle."""
    pick = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    config = {
        "pe.divider": pick.choice([1, 1, 2]),
        "dist.bus_bytes": pick.choice([4, 6, 12, 32]),
        "mem.banks": pick.choice([2, 5, 16]),
        "mem.unit_half_bytes": 1 << 17,
    }
    unit = storing(pick, **config)
    script: list[Any] = []
    for _ in range(pick.randrange(20)):
        script.append(("work", pick.choice([1, 2, 30, 100])))
        at = UNIT + HALF + unit.data_at + 4 * pick.randrange(len(unit.data) // 4)
        script.append(pick.choice([("load", at, 4), ("store", at, 4, 7), ("load", at - HALF, 4)]))
    number = pick.choice([3, 90])
    others = toy(number, [*script, ("end",)])
    fast, reference = (unit.machine(others, engine=engine) for engine in ("fast", "reference"))
    for pause in pauses:
        stops = [machine.device.run(max_cycles=pause) for machine in (fast, reference)]
        assert said(stops[0]) == said(stops[1])
        assert not differences(fast.device, reference.device)
    for step in range(6):
        core = pick.choice(["pe[0]", f"toy{number}"])
        stops = [machine.device.step_core(core, max_cycles=90) for machine in (fast, reference)]
        assert said(stops[0]) == said(stops[1])
        assert fast.device.hash() == reference.device.hash() or stops[0].reason == "exit", step
    stops = [machine.device.run() for machine in (fast, reference)]
    assert said(stops[0]) == said(stops[1])  # a store may have spoilt a sequence
    assert contents(fast.device) == contents(reference.device)
    assert fast.device.counters() == reference.device.counters()


@pytest.mark.parametrize("clusters", [1, 2, 4])
def test_results_take_few_acts(clusters: int) -> None:
    """The last beat of each store is the row's own, and the first of all."""
    unit = Unit({"pe.clusters": clusters, "pe.output_queue": ACCUMULATORS * BLOCKS})
    unit.config_packet(0, *[f"ld psums base={base}" for base in range(12)], "st base=0")
    sums = [unit.psums(np.arange(ACCUMULATORS * PES * clusters)) for _ in range(12)]
    out = unit.out(256 * PES * clusters, "int32", count=48)
    unit.exe(0, *sums, out=out, last=1)
    fast, reference = machines(unit)
    while reference.row.running and not reference.row.state.return_beats:
        reference.run(max_cycles=1)
    fast.run(until=reference.device.cycle)
    calls = hook(fast_row(fast), "_cycle")
    for machine in (fast, reference):
        machine.run()
    assert contents(fast.device) == contents(reference.device)
    assert reference.row.state.return_beats == 24 * clusters
    assert len(calls) < 20 + 2 * clusters
    sums_of = np.arange(ACCUMULATORS * PES * clusters).reshape(-1, ACCUMULATORS)
    expected = np.concatenate([sums_of] * 12, axis=1)
    assert (fast.read(out, expected.size).reshape(expected.shape) == expected).all()
