"""Jitter depends on seed and cycle only: runs with different seeds differ, others are equal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw import api, execution, golden_description
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import DeviceError
from macaw.emu.jitter import Jitter
from macaw.emu.state import StateError
from macaw.isa import config

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
# Transfers; loads and stores of vc; the array with its return bus; nnp; blocks that push and pull.
SAMPLES = {
    "layer": 2,
    "vector_dot": 2,
    "conv1d": 1,
    "nnp_mlp": 3,
    "fim_gru": 4,
}  # and a seed that shows
NUMBERS = st.fixed_dictionaries(
    {
        "jitter.refresh_interval": st.integers(60, 300),
        "jitter.refresh": st.integers(0, 12),
        "jitter.others_interval": st.integers(16, 100),
        "jitter.others": st.integers(0, 7),
    }
)


def taken(jitter: Jitter, cycles: int) -> list[bool]:
    """Return for each of the first `cycles` cycles whether the jitter occupies the DRAM."""
    return [jitter.free(time, 1) != time for time in range(cycles)]


@given(st.integers(0, 2**40), NUMBERS, st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_free_and_next_say_the_same(seed: int, numbers: dict[str, int], step: int) -> None:
    jitter, cycles = Jitter(seed, 0, numbers), 700
    busy = taken(jitter, cycles)
    for time in range(0, 500, 7):
        wanted = next(at for at in range(time, cycles, step) if not busy[at])
        assert jitter.free(time, step) == wanted
        limit = time + 120
        wanted = next((at for at in range(time, limit) if busy[at]), limit)
        assert jitter.next(time, limit) == wanted


@given(st.integers(0, 2**40), NUMBERS)
@settings(max_examples=40, deadline=None)
def test_how_much_is_taken(seed: int, numbers: dict[str, int]) -> None:
    """Each period has a whole refresh; each slot has at most `jitter.others` other busy cycles."""
    period, refresh = numbers["jitter.refresh_interval"], numbers["jitter.refresh"]
    slot, most = numbers["jitter.others_interval"], numbers["jitter.others"]
    busy = taken(Jitter(seed, 0, numbers | {"jitter.others": 0}), 5 * period)
    for begin in range(0, 4 * period, 11):
        assert sum(busy[begin : begin + period]) == refresh
    others = taken(Jitter(seed, 0, numbers | {"jitter.refresh": 0}), 40 * slot)
    for begin in range(0, 40 * slot, slot):
        inside = others[begin : begin + slot]
        assert sum(inside) <= most
        edges = sum(
            one != other for one, other in zip([False, *inside], [*inside, False], strict=True)
        )
        assert edges in (0, 2)  # one stretch
    if most > 3:
        assert len({sum(others[begin : begin + slot]) for begin in range(0, 40 * slot, slot)}) > 1


def test_every_divider_finds_a_free_cycle() -> None:
    """A core with any divider finds a free cycle, even with the worst settings that are allowed."""
    rows = {row.name: row for row in config.COMMON if row.name.startswith("jitter.")}
    worst = {}
    for name, row in rows.items():
        bound = row.low if name.endswith("interval") else row.high
        assert bound is not None
        worst[name] = bound
    for seed in range(200):
        jitter = Jitter(seed, 0, worst)
        for step in (1, 2, 3, 63, 64):
            assert (
                0
                <= jitter.free(step * seed, step) - step * seed
                < 2 * worst["jitter.refresh_interval"]
            )


def test_seeds_and_places_differ() -> None:
    numbers = config.load("base")
    found = [taken(Jitter(seed, place, numbers), 8000) for seed in range(4) for place in (0, 8, 9)]
    assert len({tuple(item) for item in found}) == len(found)


def loaded(name: str, **options: Any) -> Device:
    """A device with a sample program and its inputs."""
    made = golden_description.read_description(PROGRAMS / name)
    program = api.load(made.sources[0], device=made.device)
    device = Device(execution.configuration_of(program, made.device), **options)
    device.load(program)
    for tensor, path in made.inputs.items():
        device.write_tensor(tensor, np.load(path))
    return device


def outputs(device: Device) -> list[bytes]:
    assert device.program is not None
    names = (tensor.name for tensor in device.program.outputs)
    return [device.read_tensor(name).tobytes() for name in names if name != "cycles"]


@pytest.mark.parametrize(("name", "seed"), SAMPLES.items())
def test_a_sample_by_both_engines(name: str, seed: int) -> None:
    """With jitter, both engines agree at any stop; the cycles change, the outputs do not."""
    fast, reference = (loaded(name, engine=engine, jitter=seed) for engine in ENGINES)
    plain = loaded(name)
    assert plain.run().reason == "exit"
    for pause in (50, 211, 400, None):
        stops = [device.run(max_cycles=pause) for device in (fast, reference)]
        assert stops[0].reason == stops[1].reason
        assert fast.hash() == reference.hash()
    assert fast.stopped is not None
    assert outputs(fast) == outputs(plain)
    assert fast.cycle > plain.cycle


def test_the_same_seed_gives_the_same_run_and_others_differ() -> None:
    cycles = []
    for seed in (0, 1, 2, 3, 0):
        device = loaded("fim_gru", jitter=seed)
        device.run()
        cycles.append(device.cycle)
    assert cycles[0] == cycles[4]
    assert len(set(cycles)) >= 3


def test_a_snapshot_goes_on_as_the_run_did() -> None:
    whole, stopped = loaded("fim_gru", jitter=5), loaded("fim_gru", jitter=5)
    whole.run()
    stopped.run(max_cycles=700)
    middle = stopped.snapshot()
    stopped.run()
    assert stopped.hash() == whole.hash()
    stopped.restore(middle)
    stopped.run()
    assert stopped.hash() == whole.hash()


def test_a_saved_state_knows_its_seed(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    device = loaded("layer", jitter=5)
    device.run(max_cycles=30)
    device.save(path)
    again = loaded("layer", jitter=5)
    again.load_state(path)
    assert again.hash() == device.hash()
    for other in (None, 6):
        with pytest.raises(StateError, match=r"is of another configuration: jitter$"):
            loaded("layer", jitter=other).load_state(path)
    without = tmp_path / "without.npz"
    loaded("layer").save(without)
    with pytest.raises(StateError, match=r"is of another configuration: jitter$"):
        again.load_state(without)


def test_a_seed_is_no_negative_number() -> None:
    with pytest.raises(DeviceError, match="the seed of jitter is a whole number from 0, not -1"):
        Device(config.load("tiny"), jitter=-1)
