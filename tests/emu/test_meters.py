"""Meters of random programs: both engines count the same, and as the cores' counters say."""

from __future__ import annotations

import random
from collections import Counter
from random import Random
from typing import Any

import numpy as np
import pytest

from macaw.emu import metering
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.meter import Count
from macaw.isa import registry
from macaw.isa.activities import BY_NAME, OPERATIONS
from macaw.isa.fim_circuit import COLUMN_BYTES
from tests.emu import dma_devices, scalar_devices
from tests.emu.fim import engine_pairs
from tests.emu.fim import random_programs as fim_programs
from tests.emu.nnp.random_programs import program as nnp_program
from tests.emu.pe_engine_pairs import machines_of_engines
from tests.emu.pe_random_lists import random_packet_list

pytestmark = pytest.mark.once

LIMIT = 60_000
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 100))]
Counts = dict[Count, int]


def measure(device: Device) -> tuple[Stop, dict[str, Counts]]:
    """Run a device; return its stop and the counts of each core, after tests for any core."""
    with np.errstate(all="ignore"):
        stop, meters, memory = metering.run(device, LIMIT)
    counters = device.counters()
    for name, one in meters.items():
        assert {key.activity for key in one.counts} <= BY_NAME.keys()
        assert all(count > 0 for count in one.counts.values())
        if one.core.table.name not in registry.names():
            continue  # a toy of the tests, without a meter of its own
        if one.core.table.name != "fim":  # whose external accesses are those of its channel
            for kind, writes in (("external_reads", False), ("external_writes", True)):
                moved = total(one.counts, memory="external", writes=writes)
                assert moved == counters[name].get(kind, 0) * memory.width, (name, kind)
        late = device.cycle + 1000  # what began may end after the run
        operations = sum(n for key, n in one.counts.items() if key.activity in OPERATIONS)
        assert operations <= one.peak_operations * late
        for place, peak in one.peak_bytes.items():
            assert total(one.counts, memory=place) <= peak * late, (name, place)
    on_chip = [total(one.counts, memory="on-chip") for one in meters.values()]
    assert memory.unit_bytes.sum() == sum(on_chip)
    return stop, {name: one.counts for name, one in meters.items()}


def total(counts: Counts, **fields: Any) -> int:
    """The sum of the counts whose keys have these fields."""
    return sum(
        count
        for key, count in counts.items()
        if all(getattr(key, name) == value for name, value in fields.items())
    )


def of_activities(counts: Counts) -> Counter[str]:
    found: Counter[str] = Counter()
    for key, count in counts.items():
        found[key.activity] += count
    return found


def measure_both(devices: list[Device], plain: Device) -> dict[str, Counts]:
    """Both engines count the same, and the meters change nothing of the run.

    Return the counts of the reference engine. After a fault the fast engine of islands repeats the
    last acts, so a meter may count them twice; a run that ends with a fault has no profile.
    """
    stop, counts = measure(devices[1])
    _, counts_of_fast = measure(devices[0])
    differing = {name for name in counts if counts_of_fast[name] != counts[name]}
    if stop.fault is not None:
        differing = {name for name in differing if not name.startswith("fim")}
    assert differing == set()
    with np.errstate(all="ignore"):
        plain.run(LIMIT)
    plain.sync()
    for device in devices:
        assert device.counters() == plain.counters()
    return counts


@pytest.mark.parametrize("core", ["cp", "vc"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scalar_cores(core: str, seed: int) -> None:
    devices, _ = scalar_devices.random_devices(core, seed)
    plain = scalar_devices.random_devices(core, seed)[0][0]
    counts = measure_both(devices, plain)[core]
    # an instruction that faults or waits at the end was begun, but is not done
    done = plain.counters()[core]["instructions"]
    assert 0 <= of_activities(counts)["instructions"] - done <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_dma(seed: int) -> None:
    devices, plain = dma_devices.random_devices(seed), dma_devices.random_devices(seed)[0]
    measure_both(list(devices), plain)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows(seed: int) -> None:
    pair = machines_of_engines(random_packet_list(seed).unit)
    plain = machines_of_engines(random_packet_list(seed).unit)[0].device
    found = measure_both([machine.device for machine in pair], plain)["pe[0]"]
    counts, by_activity = plain.counters()["pe[0]"], of_activities(found)
    products = sum(by_activity[name] for name in by_activity if name.startswith("mul_"))
    assert products == counts["macs"]
    assert by_activity["special"] == counts["sfu_results"]
    assert by_activity["commands"] == counts["packets"]
    assert total(found, memory="input buffer", writes=True) == counts["bus_bytes"]


@pytest.mark.parametrize("seed", SEEDS)
def test_nnp(seed: int) -> None:
    devices = [nnp_program(Random(seed)).device(engine) for engine in ("fast", "reference")]
    plain = nnp_program(Random(seed)).device("fast")
    found = of_activities(measure_both(devices, plain)["nnp"])
    native = int(plain.config["nnp.native"])
    assert found["add_int32"] == plain.counters()["nnp"]["tiles"] * native**2


@pytest.mark.parametrize("seed", SEEDS)
def test_islands(seed: int) -> None:
    def machines() -> Any:
        lines = fim_programs.program(random.Random(seed))
        pair = engine_pairs.machines_of_engines(lines, chosen, seed if seed % 3 == 0 else None)
        for machine in pair:
            machine.start()
        return pair

    chosen = engine_pairs.DEVICES[seed % len(engine_pairs.DEVICES)]
    plain = machines()[0]
    found = measure_both([machine.device for machine in machines()], plain.device)
    for name, counters in plain.device.counters().items():
        if name.startswith("fim"):
            columns = counters["column_reads"] + counters["column_writes"]
            assert total(found[name], memory="banks") == columns * COLUMN_BYTES
            assert of_activities(found[name])["dram_rows"] == (
                counters["activations"] + counters["channel_rows"]
            )
