"""Snapshots and saved files of a device: a restored run is the same run."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu import plain
from macaw.emu.device import Device
from macaw.emu.state import StateError
from tests.emu.toys import EXTERNAL, HALF, UNIT, Step, describe, make, toy

PLACES = (UNIT, UNIT + 8, UNIT + 128, UNIT + HALF, UNIT + (1 << 20), EXTERNAL, 0x200)
ACCESSES = st.one_of(
    st.tuples(st.just("work"), st.integers(1, 9)),
    st.tuples(st.just("load"), st.sampled_from(PLACES), st.sampled_from((1, 4))),
    st.tuples(st.just("store"), st.sampled_from(PLACES), st.just(4), st.integers(0, 1 << 32)),
    st.tuples(st.just("beat"), st.just(((UNIT, 40), (UNIT + 136, 9)))),
)
COMMANDS = st.one_of(
    st.tuples(st.just("copy"), st.sampled_from((0x8000, 0x8018))),
    st.tuples(st.just("await"), st.sampled_from((0, 0, 1, 2))),
    st.tuples(st.just("swap"), st.sampled_from((1, 2, 3))),
    st.tuples(st.just("dispatch"), st.sampled_from((1, 2)), st.integers(0, 3)),
    st.tuples(st.just("join"), st.sampled_from((0b10, 0b100, 0b1000))),
)
scripts = st.lists(st.one_of(ACCESSES, COMMANDS), min_size=1, max_size=8)
followers = st.lists(ACCESSES, min_size=4, max_size=6)


def built(first: list[Step], second: list[Step], third: list[Step]) -> Device:
    device = make(
        toy(0, [*first, ("jump", 0)]),
        toy(2, [*second, ("end",)], idle=True, unit=0),
        toy(3, [*third, ("end",)], idle=True, unit=1, divider=2),
    )
    device.memory.poke(0x8000, describe(UNIT, EXTERNAL, 70, 3, 80, 100))
    device.memory.poke(0x8018, describe(EXTERNAL + 64, UNIT + (1 << 20), 50))
    device.memory.poke(EXTERNAL, bytes(range(256)))
    return device


@settings(max_examples=60, deadline=None)
@given(scripts, followers, followers, st.integers(0, 400), st.integers(0, 400), st.data())
def test_a_restored_run_is_the_same_run(
    first: list[Step],
    second: list[Step],
    third: list[Step],
    begin: int,
    more: int,
    data: st.DataObject,
) -> None:
    device = built(first, second, third)
    device.run(until=begin)
    snapshot = device.snapshot()
    hash_then = device.hash()
    stop = device.run(until=begin + more)
    hash_later = device.hash()
    device.restore(snapshot)
    assert device.hash() == hash_then
    assert device.diff(snapshot) == []
    # In pieces, it is the same run too.
    cut = data.draw(st.integers(0, more))
    device.run(until=begin + cut)
    assert str(device.run(until=begin + more)) == str(stop)
    assert device.hash() == hash_later
    # So it is on another device, from the beginning or from the snapshot.
    other = built(first, second, third)
    other.run(until=begin + more)
    assert other.hash() == hash_later
    other.restore(snapshot)
    other.run(until=begin + more)
    assert other.hash() == hash_later


@settings(max_examples=20, deadline=None)
@given(scripts, followers, st.integers(0, 300))
def test_a_saved_device_comes_back(
    tmp_path_factory: Any, first: list[Step], second: list[Step], begin: int
) -> None:
    path = tmp_path_factory.mktemp("device") / "state.npz"
    device = built(first, second, second)
    device.run(until=begin)
    device.save(path)
    held = device.hash()
    other = built(first, second, second)
    other.load_state(path)
    assert other.hash() == held
    assert str(other.run(until=begin + 200)) == str(device.run(until=begin + 200))
    assert other.hash() == device.hash()


def test_a_fault_survives_a_snapshot() -> None:
    device = make(toy(0, [("work", 3), ("fault",)]))
    start = device.snapshot()
    stop = device.run()
    held = device.snapshot()
    device.restore(start)
    assert device.stopped is None
    device.restore(held)
    assert str(device.run()) == str(stop)
    assert device.run().fault is not None


def test_wrong_saved_devices(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    make(toy(0, [("end",)])).save(path)
    with pytest.raises(
        StateError, match=r"a\.npz: is of another configuration: mem\.banks, dma\.setup"
    ):
        make(toy(0, [("end",)]), mem__banks=8, dma__setup=9).load_state(path)
    with pytest.raises(StateError, match="the file has no field toy2/time"):
        make(toy(2, [("end",)])).load_state(path)
    np.savez(path, a=np.zeros(1))
    with pytest.raises(StateError, match="is no saved device"):
        make(toy(0, [("end",)])).load_state(path)
    with pytest.raises(StateError, match="the snapshot has other cores than this device"):
        make(toy(0, [("end",)])).restore(make(toy(2, [("end",)])).snapshot())


def test_a_value_that_is_no_snapshot_is_refused() -> None:
    device, other = make(toy(0, [("end",)])), make(toy(0, [("end",)]), toy(2, [("end",)]))
    fresh = device.hash()
    cases: tuple[tuple[Any, str], ...] = (
        (5, "a snapshot is needed, not a value of type int"),
        (None, "a snapshot is needed, not a value of type NoneType"),
        (other.snapshot(), "the snapshot has other cores than this device"),
    )
    for wrong, message in cases:
        for call in (device.restore, device.diff):
            with pytest.raises(StateError, match=f"^{message}$"):
                call(wrong)
    assert device.hash() == fresh


def test_differences_say_where() -> None:
    device = make(toy(0, [("store", EXTERNAL + 4, 1, 7), ("mark",), ("end",)]))
    before = device.snapshot()
    device.run(until=5)
    found = {(name, change.field): change for name, change in device.diff(before)}
    assert found["memory", "external"][1:] == ((4,), b"\0", b"\7")
    assert found["toy0", "time"][2:] == (0, 21)
    assert found["device", "cycle"][2:] == (0, 5)
    assert ("toy0", "waiting") not in found


@pytest.mark.once
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_damaged_file_is_refused_or_is_the_same(
    tmp_path_factory: Any, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "state.npz"
    device = built([("copy", 0x8000), ("await", 0)], [("work", 1)], [("work", 1)])
    device.run(until=40)
    device.save(path)
    held = device.hash()
    contents = bytearray(path.read_bytes())
    kind = data.draw(st.sampled_from(("flip", "cut", "insert")))
    place = data.draw(st.integers(0, len(contents) - 1))
    if kind == "flip":
        contents[place] ^= 1 << data.draw(st.integers(0, 7))
    elif kind == "cut":
        del contents[place:]
    else:
        contents[place:place] = data.draw(st.binary(min_size=1, max_size=9))
    path.write_bytes(contents)
    other = built([("copy", 0x8000), ("await", 0)], [("work", 1)], [("work", 1)])
    fresh = other.hash()
    with contextlib.suppress(StateError):
        other.load_state(path)
        fresh = held
    assert other.hash() == fresh


def test_a_file_of_wrong_values_is_refused(tmp_path: Path) -> None:
    device = make(toy(0, [("end",)]))
    device.sync()
    path = tmp_path / "a.npz"
    device.save(path)
    fresh = device.hash()
    for name, value in (("toy0/waiting", 5), ("memory/arbiter", [1]), ("device/stopped", (1,))):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files}
        arrays[name] = np.frombuffer(plain.pack(value), np.uint8)
        np.savez(tmp_path / "b.npz", **arrays)
        with pytest.raises(StateError, match=r"b\.npz: is no saved device: "):
            device.load_state(tmp_path / "b.npz")
        assert device.hash() == fresh
