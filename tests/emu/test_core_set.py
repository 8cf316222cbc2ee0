"""Cores that a device makes when they are first used behave as cores that it makes at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import macaw
from macaw.asm.program import Program
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config, registry
from tests.emu.cp_machine import code, program

pytestmark = pytest.mark.once

PROGRAMS = Path(__file__).parents[2] / "programs"
TINY = config.load("tiny")
END = "addi a7, zero, 93\naddi a0, zero, 0\necall"
LATE = {2: "vc", 3: "nnp", 8: "fim[0]"}


def cp_program(source: str) -> Program:
    return program(code(f"{source}\n{END}"))


def sample(folder: str) -> Program:
    (source,) = (PROGRAMS / folder).glob("*.s")
    return macaw.load(str(source))


def names(device: Device) -> list[str]:
    return [core.name for core in device.present]


def complete(engine: str = ENGINES[0]) -> Device:
    """A device that has made all its cores."""
    device = Device(TINY, engine=engine)
    assert device.order is device.present
    return device


def run(device: Device, item: Program) -> Device:
    device.load(item)
    stop = device.run(max_cycles=100_000)
    assert stop.reason in ("exit", "fault"), stop
    return device


SOURCES = {
    "nothing": "addi a0, zero, 1",
    "an id": "lui a0, 0x20002\nlw a1, 0(a0)",
    "an id of nobody": "lui a0, 0x20004\nlw a1, 0(a0)",
    "a trace parameter": "lui a0, 0x20003\naddi a1, zero, 1\nsw a1, 0x704(a0)",
    "a wait for all": "addi a0, zero, 0x7fe\ncore.wait a0",
    "a wait for nobody": "addi a0, zero, 0x10\ncore.wait a0",
    "a start of nobody": "addi a0, zero, 4\nlui a1, 0x10\ncore.start a0, a1",
    "a start of nnp": "addi a0, zero, 3\nlui a1, 0x30000\ncore.start a0, a1",
    "a start of vc": "addi a0, zero, 2\nlui a1, 0x80000\ncore.start a0, a1\naddi a0, zero, 4\ncore.wait a0",
    "memory of nnp": "lui a0, 0x30000\nlw a1, 0(a0)\nsw a0, 0(a0)",
    "memory of nobody": "lui a0, 0x7f000\nlw a1, 0(a0)",
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_late_cores_leave_the_state_of_cores_made_at_once(source: str, engine: str) -> None:
    late, early = Device(TINY, engine=engine), complete(engine)
    assert not set(names(late)) & set(LATE.values())
    for device in (late, early):
        run(device, cp_program(source))
    assert str(late.stopped) == str(early.stopped)
    assert late.counters() == early.counters()
    assert late.hash() == early.hash()
    assert not late.diff(early.snapshot())


@pytest.mark.parametrize("folder", ["vector_dot", "nnp_mlp", "fim_mlp", "six_cores", "layer"])
def test_programs_leave_the_same_state(folder: str) -> None:
    item = sample(folder)
    hashes = []
    for early in (False, True):
        device = Device(macaw.configuration(item.device or "base"))
        assert not early or device.order
        device.load(item)
        device.run(max_cycles=3_000)
        hashes.append((device.cycle, device.hash()))
    assert hashes[0] == hashes[1]


def test_a_program_makes_only_the_cores_that_it_uses() -> None:
    assert names(run(Device(TINY), cp_program(SOURCES["nothing"]))) == [
        "cp",
        "dma",
        "pe[0]",
        "pe[1]",
    ]
    assert "vc" in names(run(Device(TINY), cp_program(SOURCES["an id"])))
    assert "fim[0]" not in names(run(Device(TINY), cp_program(SOURCES["an id"])))


@pytest.mark.parametrize(
    "use",
    [
        lambda device: device.cores["vc"],
        lambda device: device.by_number[2],
        lambda device: device.snapshot(),
        lambda device: device.memory.state,
        lambda device: device.memory.describe(0x3000_0000),
        lambda device: device.memory.region(0x3000_0000),
        lambda device: device.listen(lambda event: None),
    ],
    ids=["cores", "by_number", "snapshot", "state", "describe", "region", "listen"],
)
def test_whoever_asks_for_all_cores_gets_them(use: Callable[[Device], object]) -> None:
    device = Device(TINY)
    use(device)
    assert names(device) == [core.name for core in complete().order]


def test_the_order_in_which_cores_are_made_leaves_no_trace() -> None:
    hashes = set()
    for numbers in ((8, 3, 2), (2, 3, 8), (3, 9, 2)):
        device = Device(TINY)
        device.load(cp_program(SOURCES["memory of nnp"]))
        for number in numbers:
            core = device.core_set.find(number)
            assert core is None or core.number == number
        device.run()
        hashes.add(device.hash())
    assert len(hashes) == 1


def test_cores_that_could_not_be_made_are_made_at_the_next_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = Device(TINY)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(device.core_set, "_make", interrupt)
        with pytest.raises(KeyboardInterrupt):
            device.core_set.find(2)
    core = device.core_set.find(2)
    assert core is not None
    assert core.name == "vc"


def test_numbers_of_no_core() -> None:
    device = Device(TINY)
    assert [device.core_set.find(number) for number in (-1, 4, 15, 31, 1 << 20)] == [None] * 5


def test_only_programs_make_the_cores_of_a_run() -> None:
    """The counters of a run name all cores, those that were never made too."""
    item = sample("layer")
    found = macaw.run(item, x=np.load(PROGRAMS / "layer" / "x.npy"))
    assert "nnp" not in found.used_counters
    assert list(found.counters) == list(found.device.cores)
    assert set(found.counters["nnp"].values()) == {0}
    assert found.counters["cp"]["instructions"] == 118
    assert {core.name for core in registry.cores()} <= {
        name.partition("[")[0] for name in found.counters
    }


def test_cores_that_the_host_makes_leave_runs_equal() -> None:
    item = cp_program(SOURCES["nothing"])
    alone = macaw.run(item, device=TINY)
    looked_at = macaw.run(item, device=TINY, on_start=lambda _, device: device.cores)
    assert names(alone.device) != names(looked_at.device)
    assert looked_at == alone
    assert looked_at.counters == alone.counters
    assert macaw.run(cp_program(SOURCES["an id"]), device=TINY) != alone
