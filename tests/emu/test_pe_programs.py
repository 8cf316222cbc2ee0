"""Random packet lists leave the results of a model that executes one packet after another.

The engine runs several buffers at once.
"""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.emu.pe import build
from macaw.isa import common
from macaw.isa.pe import (
    CYCLE_CLASSES,
    FAULTS,
)
from tests.emu.pe_builder import Machine
from tests.emu.pe_random_lists import (
    CLUSTERS,
    OUTPUTS,
    PES,
    content_hashes,
    random_packet_list,
)
from tests.emu.pe_untimed import BLOCKS, Model
from tests.fuzzing import fuzz

pytestmark = pytest.mark.once

PLACES = OUTPUTS // BLOCKS
KINDS = {row.name for row in (*FAULTS, *common.FAULTS)}


def check(machine: Machine, model: Model) -> None:
    """Assert that memory and PEs of the engine equal the model's."""
    for at, data in model.memory.items():
        assert machine.device.memory.peek(machine.half + at, 8) == data, hex(at)
    state = machine.row.state
    for (c, k), sums in model.sums.items():
        assert state.accumulators[c, k].tolist() == sums
        for place, value in enumerate(model.output[c, k]):
            assert state.output_written[c, k, place] == model.written[c, k][place]
            if model.written[c, k][place]:
                assert state.output[c, k, place] == value
        for place, held in enumerate(model.input[c, k]):
            assert state.bitmask[c, k, place] == bool(held)


PROGRAMS = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)


@PROGRAMS
@given(SEEDS)
def test_random_programs(seed: int) -> None:
    """Random lists, also with strides, leave the results of the untimed model (seed 000 ¶106)."""
    made = random_packet_list(seed)
    machine = made.unit.machine()
    machine.run(max_cycles=200_000)
    assert not machine.row.running
    check(machine, made.model)
    counters = machine.row.counters()
    total = sum(value for name, value in counters.items() if name.startswith("cycles_"))
    assert total == counters["cycles"] * CLUSTERS * PES
    every = [getattr(machine.row.state, row.name) for row in CYCLE_CLASSES]
    assert (sum(every) == counters["cycles"]).all()  # of each PE
    assert counters["packets"] > 0
    state = machine.row.state
    assert not any(state.runs)
    assert state.units == [[-1] * 4] * CLUSTERS
    assert not state.weight_count.any()


@settings(PROGRAMS, max_examples=20)
@given(SEEDS, st.lists(st.integers(1, 60), min_size=1, max_size=5))
def test_snapshots_restore_exactly(seed: int, pauses: list[int]) -> None:
    made = random_packet_list(seed)
    machine = made.unit.machine()
    device = machine.device
    kept = []
    for pause in pauses:
        device.run(max_cycles=pause)
        kept.append((device.hash(), device.snapshot()))
    device.run(max_cycles=200_000)
    check(machine, made.model)
    end = content_hashes(device)
    # Back, in the same device and in a fresh one, and on in other steps.
    fresh = Device(made.unit.configuration, build=[build])
    for which in (device, fresh):
        for mark, snapshot in reversed(kept):
            which.restore(snapshot)
            assert which.hash() == mark
            while which.cores["pe[0]"].running and which.cycle < snapshot.cycle + 7:
                which.run(max_cycles=1)
            which.run(max_cycles=200_000)
            assert content_hashes(which) == end


@fuzz
@given(SEEDS)
def test_corrupted_units_give_clear_faults(seed: int) -> None:
    made = random_packet_list(seed)
    pick = random.Random(seed)
    for _ in range(pick.randrange(1, 6)):
        area = made.unit.packets if pick.random() < 0.7 else made.unit.data
        value = pick.choice([0, 1, 2, 3, 0x20, 0x40, 0x80, 0xFF, pick.randrange(256)])
        area[pick.randrange(len(area))] = value
    stop = made.unit.machine().device.run(max_cycles=100_000)
    if stop.fault is None:
        assert stop.reason == "exit", stop.message
    else:
        assert stop.fault.kind in KINDS
        assert stop.fault.address is not None


def test_a_saved_device_goes_on(tmp_path: Any) -> None:
    made = random_packet_list(5)
    machine = made.unit.machine()
    machine.device.run(max_cycles=90)
    machine.device.save(tmp_path / "device.npz")
    machine.device.run(max_cycles=200_000)
    fresh = Device(made.unit.configuration, build=[build])
    fresh.load_state(tmp_path / "device.npz")
    fresh.run(max_cycles=200_000)
    assert fresh.hash() == machine.device.hash()
