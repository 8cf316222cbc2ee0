"""The programs of docs/profile.md: one layer written badly and well, and all six cores at once."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import macaw
from macaw.emu.engines import ENGINES
from tests.programs.profiled import (
    CORES,
    LAYER,
    SIX_CORES,
    make_layer,
    make_six_cores,
    run_six_cores,
)

pytestmark = pytest.mark.once

STEPS = ("bad", "units", "banks", "writes", "overlap", "good")


@cache
def layer(name: str) -> macaw.Run:
    return macaw.run(LAYER / f"{name}.s", x=make_layer.images())


def test_the_files_are_those_that_are_made() -> None:
    np.testing.assert_array_equal(np.load(LAYER / "w.npy"), make_layer.weights())
    np.testing.assert_array_equal(np.load(LAYER / "x.npy"), make_layer.images())
    for name, array in make_six_cores.tensors().items():
        found = np.load(SIX_CORES / f"{name}.npy")
        np.testing.assert_array_equal(
            found, make_six_cores.tiles(array, 4) if name == "wd" else array
        )


@pytest.mark.parametrize("name", STEPS)
def test_each_version_of_the_layer_computes_the_same(name: str) -> None:
    sums = make_layer.images().astype(int) @ make_layer.weights().T.astype(int)
    wanted = np.clip(np.rint(sums.clip(0) / 2**make_layer.SHIFT), -128, 127)
    assert 0 < np.count_nonzero(wanted) < wanted.size
    np.testing.assert_array_equal(layer(name).outputs["y"], wanted)


def test_each_version_is_faster_than_the_one_before() -> None:
    cycles = [layer(name).cycles for name in STEPS]
    assert cycles == sorted(set(cycles), reverse=True)
    assert cycles[0] > 2 * cycles[-1]


def test_what_was_bad_and_what_is_mended() -> None:
    counters = {name: layer(name).counters for name in STEPS}
    partial = {name: found["dma"]["external_partial"] for name, found in counters.items()}
    assert partial["banks"] == counters["banks"]["dma"]["external_writes"] > 0
    assert partial["writes"] == partial["good"] == 0
    blocked = {
        name: found["pe[0]"]["reads_blocked"] + found["pe[0]"]["writes_blocked"]
        for name, found in counters.items()
    }
    assert blocked["units"] > 10 * blocked["banks"] > 0
    # The array configures itself once instead of eight times.
    packets = [counters[name]["pe[0]"]["packets"] for name in ("overlap", "good")]
    assert packets[0] - packets[1] == 3 * 7
    # All versions multiply the same pairs; the bad one with half of the PEs.
    assert len({found["pe[0]"]["macs"] for found in counters.values()}) == 1


@pytest.mark.parametrize("engine", ENGINES)
def test_the_towers_are_what_numpy_computes(engine: str) -> None:
    wanted = make_six_cores.reference(make_six_cores.tensors())
    run = run_six_cores("", engine)
    for name, array in wanted.items():
        assert np.count_nonzero(array) > array.size / 4, name
        assert run.outputs[name].tobytes() == array.tobytes(), name


def test_the_array_is_what_the_others_wait_for() -> None:
    saved = {core: run_six_cores("").cycles - run_six_cores(core).cycles for core in CORES}
    assert max(saved, key=lambda core: saved[core]) == "PE"
    assert saved["PE"] > 2 * sorted(saved.values())[-2]
