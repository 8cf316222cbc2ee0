"""Meters of random programs: both engines count the same, and as the cores' counters say."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from macaw.emu import metering
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.fim import meter as fim_meter
from macaw.emu.meter import Count
from macaw.emu.scalar import meter as scalar_meter
from macaw.emu.vector import meter as vector_meter
from macaw.isa import cp, registry, vector
from macaw.isa.activities import BY_NAME, OPERATIONS
from macaw.isa.fim_circuit import COLUMN_BYTES, FUNCTION_NAMES
from tests.emu.random_runs import (
    LIMIT,
    RandomRun,
    dma_run,
    island_run,
    nnp_run,
    row_run,
    scalar_run,
)

pytestmark = pytest.mark.once

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


def measure_both(run: RandomRun) -> dict[str, Counts]:
    """Both engines count the same, and the meters change nothing of the run.

    Return the counts of the reference engine. After a fault the fast engine of islands repeats the
    last acts, so a meter may count them twice; a run that ends with a fault has no profile.
    """
    fast, reference = run.devices
    stop, counts = measure(reference)
    _, counts_of_fast = measure(fast)
    differing = {name for name in counts if counts_of_fast[name] != counts[name]}
    if stop.fault is not None:
        differing = {name for name in differing if not name.startswith("fim")}
    assert differing == set()
    run.check_unchanged()
    return counts


@pytest.mark.parametrize("core", ["cp", "vc"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scalar_cores(core: str, seed: int) -> None:
    run = scalar_run(core, seed)
    counts = measure_both(run)[core]
    # if the last instruction faults or still waits, the meter has counted it, the core has not
    done = run.plain.counters()[core]["instructions"]
    assert 0 <= of_activities(counts)["instructions"] - done <= 1


@pytest.mark.parametrize("seed", SEEDS)
def test_dma(seed: int) -> None:
    measure_both(dma_run(seed))


@pytest.mark.parametrize("seed", SEEDS)
def test_rows(seed: int) -> None:
    run = row_run(seed)
    found = measure_both(run)["pe[0]"]
    counts, by_activity = run.plain.counters()["pe[0]"], of_activities(found)
    products = sum(by_activity[name] for name in by_activity if name.startswith("mul_"))
    assert products == counts["macs"]
    assert by_activity["special"] == counts["sfu_results"]
    assert by_activity["commands"] == counts["packets"]
    assert total(found, memory="input buffer", writes=True) == counts["bus_bytes"]


@pytest.mark.parametrize("seed", SEEDS)
def test_nnp(seed: int) -> None:
    run = nnp_run(seed)
    found = of_activities(measure_both(run)["nnp"])
    native = int(run.plain.config["nnp.native"])
    assert found["add_int32"] == run.plain.counters()["nnp"]["tiles"] * native**2


@pytest.mark.parametrize("seed", SEEDS)
def test_islands(seed: int) -> None:
    run = island_run(seed)
    found = measure_both(run)
    for name, counters in run.plain.counters().items():
        if name.startswith("fim"):
            columns = counters["column_reads"] + counters["column_writes"]
            assert total(found[name], memory="banks") == columns * COLUMN_BYTES
            assert of_activities(found[name])["dram_rows"] == (
                counters["activations"] + counters["channel_rows"]
            )


def test_operations_that_meters_name_are_in_the_tables_of_instructions() -> None:
    """A name that no table has would count nothing, and another operation would be `logic`."""
    mnemonics = {row.mnemonic for row in cp.CORE.instructions}
    assert mnemonics >= scalar_meter._LOGIC
    assert scalar_meter._FAMILIES.keys() <= {row.family for row in cp.CORE.instructions}
    names = {operation.name for operation in vector.OPERATIONS.values()}
    assert {*vector_meter._ADDS, *vector_meter._COMPARES, *vector_meter._PRODUCTS} <= names
    functions = {*fim_meter._ADDS, *fim_meter._PRODUCTS, *fim_meter._SPECIAL}
    assert functions <= set(FUNCTION_NAMES)
