"""Meters of random programs: engines have equal counts, which agree with the cores' counters."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from macaw.emu import metering
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.meter import Count
from macaw.isa import cp, registry, vector
from macaw.isa.activities import ARITHMETIC, BY_NAME, OPERATIONS
from macaw.isa.fim_circuit import COLUMN_BYTES, FUNCTIONS
from macaw.isa.model import Core
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
    """Run a device and test what holds for all meters; return its stop and each core's counts."""
    with np.errstate(all="ignore"):
        stop, meters, memory = metering.run(device, LIMIT)
    counters = device.counters()
    for name, one in meters.items():
        assert {key.activity for key in one.counts} <= BY_NAME.keys()
        assert all(count > 0 for count in one.counts.values())
        assert all(key.memory for key in one.counts if key.writes)
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
    """The sum of the counts whose keys have these values in the named fields."""
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
    """Measure on both engines, which must agree; return the counts of the reference engine.

    The meters change nothing in the run. After a fault the fast engine of islands repeats the last
    acts, so a meter may count them twice; a run that ends with a fault has no profile.
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


NO_ARITHMETIC = {
    "branch", "csr", "jump", "load", "marker", "store", "system", "vector memory", "xcp",
}  # fmt: skip
KINDS = {  # by what a mnemonic has in it
    "multiply": ("mul", "pmac"),
    "special": ("div", "rem", "sqrt", "exp"),
    "logic": ("sll", "srl", "sra", "xor", "vmov", "vperm", "vcvt", "vsel", "lui"),
    "add": ("add", "sub", "slt", "vmin", "vmax", "vsum", "vce", "vcl", "auipc"),
}


@pytest.mark.parametrize("core", [cp.CORE, vector.CORE], ids=lambda core: core.name)
def test_each_instruction_says_what_it_computes(core: Core) -> None:
    """Each instruction that computes has a kind of arithmetic in its row; the others have none."""
    for row in core.instructions:
        assert bool(row.arithmetic) != (row.family in NO_ARITHMETIC), row.mnemonic
        assert row.arithmetic in ("", *ARITHMETIC)
        kinds = [kind for kind, parts in KINDS.items() if any(x in row.mnemonic for x in parts)]
        if row.arithmetic and kinds:
            assert kinds == [row.arithmetic], row.mnemonic


def test_each_function_of_an_island_says_what_it_computes() -> None:
    kinds = {function.name: function.arithmetic for function in FUNCTIONS}
    assert {name for name, kind in kinds.items() if kind == "add"} == {"add", "sub"}
    assert {name for name, kind in kinds.items() if kind == "multiply"} == {"mul", "vssqr"}
    assert {name for name, kind in kinds.items() if kind == "logic"} == {
        "and", "or", "xor", "not", "relu",
    }  # fmt: skip
    assert set(kinds.values()) == set(ARITHMETIC)
