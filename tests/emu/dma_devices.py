"""A device for each engine, with the same random transfers of the dma."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from macaw.emu.core import Core
from macaw.emu.device import Builder, Device
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Stop
from macaw.emu.system import Dispatchable
from tests.emu.toys import EXTERNAL, HALF, MULTICAST, UNIT, Step, describe, make, toy
from tests.emu.trace_witness import configure

TRACE = {"mode": 1, "num": 1, "step": 1, "overhead": 4}  # each transfer, in four groups by turns
AT = 0x8000  # address of the descriptions, in local memory
SIZE = 8192  # bytes of each memory that are compared: half a unit
HALVES = tuple(UNIT + HALF * number for number in range(4))
REGIONS = (0x1000, *HALVES, EXTERNAL, EXTERNAL + SIZE)
COPIES = 8
DESCRIPTIONS = (*(AT + 24 * number for number in range(COPIES)), HALVES[2] + 64, EXTERNAL + 64)


def confined(number: int, script: list[Step], unit: int) -> Builder:
    """A toy core like a row of the array: `dispatch` starts it, and it accesses only `unit`."""

    def build(device: Device) -> list[Core]:
        made = toy(number, script, idle=True, unit=unit)(device)
        for core in made:
            assert isinstance(core, Dispatchable)
            core.confined = True
        return made

    return build


def transfer(pick: random.Random) -> bytes:
    """The description of a transfer of few or many rows; some cross a half's end, some overlap."""
    if pick.random() < 0.8:  # what programs do
        dst, src = pick.choice(
            [(HALVES[0], EXTERNAL), (EXTERNAL, HALVES[0]), (HALVES[2], HALVES[0])]
        )
    else:
        dst, src = pick.choice(REGIONS), pick.choice(REGIONS)
    row_bytes = pick.choice([0, 4, 64, 256, 640, pick.randrange(1, 700)])
    rows = pick.choice([1, 1, 2, 9])
    strides = [0, row_bytes, -row_bytes, 64, 96, 100, -33, 700]
    if pick.random() < 0.2:
        row_bytes, rows = pick.choice([3, 8, 32, 96]), pick.choice([9, 20, 40])
        strides = [row_bytes, -row_bytes, 32, 100, -128]
    places = []
    for base in (dst, src):
        stride = pick.choice(strides)
        base += pick.choice([0, 0, 4, 28, pick.randrange(600)])
        if stride < 0:
            base += -stride * max(rows - 1, 0)
        places.append((base, stride))
    (dst, dst_stride), (src, src_stride) = places
    if pick.random() < 0.15:  # rows to several units
        rows = min(rows, 2)
        dst, dst_stride = HALVES[0] + dst % 64, 2 * HALF
    elif dst < EXTERNAL and dst >= UNIT and pick.random() < 0.3:  # the same bytes to two units
        dst = HALVES[0] + dst % HALF + MULTICAST
    return describe(dst, src, row_bytes, rows, dst_stride, src_stride)


def access(pick: random.Random, regions: tuple[int, ...]) -> Step:
    """A load, store or beat, mostly at addresses that transfers use."""
    at = pick.choice(regions) + 4 * pick.randrange(260)
    if pick.random() < 0.2 and UNIT <= at < EXTERNAL:
        return ("beat", [(at, 16), (at + 128, 4)])
    return ("load", at, 4) if pick.random() < 0.5 else ("store", at, 4, pick.randrange(1 << 32))


def commands(pick: random.Random, starts: bool) -> list[Step]:
    """The steps of core 0: it copies, waits, reads memory, swaps, dispatches, starts core 5."""
    script: list[Step] = []
    for _ in range(pick.randrange(1, 8)):
        script += [("copy", pick.choice(DESCRIPTIONS)) for _ in range(pick.choice([0, 1, 1, 3]))]
        script.append(("work", pick.choice([1, 3, 20, 60, 200])))
        script += pick.choice(
            [
                [],
                [("await", 0)],
                [access(pick, REGIONS)],
                [access(pick, REGIONS[-2:]) for _ in range(pick.randrange(1, 5))],
                [access(pick, HALVES[::2]), ("work", 30), access(pick, HALVES[::2])],
                [("dispatch", pick.choice([1, 1, 2]), 0)],
                [("swap", pick.randrange(4))] * pick.randrange(2),
                [("start", 5, 0)] if starts else [],
            ]
        )
    ends: list[list[Step]] = [[("await", 0)], [("break",)], []]
    return [*script, *pick.choice(ends), ("exit", 3)]


def random_devices(seed: int) -> list[Device]:
    """A device for each engine, with the same program and contents."""
    made = []
    for engine in ENGINES:
        pick = random.Random(seed)
        row = [access(pick, HALVES[1:2]) for _ in range(pick.randrange(1, 8))]
        row += [("work", pick.choice([1, 30, 100])), access(pick, HALVES[:2]), ("end",)]
        more, starts = pick.random() < 0.4, pick.random() < 0.7
        other = [
            ("work", pick.choice([1, 40])),
            *[access(pick, REGIONS) for _ in range(4)],
            ("end",),
        ]
        usual = pick.random() < 0.7
        jitter = pick.choice([None, None, pick.randrange(1 << 20)])
        device = make(
            toy(0, commands(pick, more and starts), divider=pick.choice([1, 1, 3])),
            confined(2, row, 0),
            *([toy(5, other, idle=starts)] if more else []),
            engine=engine,
            jitter=jitter,
            dma__divider=pick.choice([1, 1, 2, 3]),
            dma__buffer=64 if usual else pick.choice([1, 3, 20, 30]),
            dma__width=32 if usual else pick.choice([4, 5, 16, 64]),
            mem__banks=16 if usual else pick.choice([4, 16]),
            mem__external_latency=20 if usual else pick.choice([3, 20]),
            mem__external_width=32 if usual else pick.choice([16, 32]),
        )
        contents = np.random.default_rng(seed)
        for base in REGIONS:
            device.memory.poke(base, contents.integers(0, 256, SIZE, np.uint8).tobytes())
        for place in DESCRIPTIONS:
            device.memory.poke(place, transfer(pick))
        if seed % 2:  # its trace is part of the state, and has to be the same
            configure(device, "dma", TRACE)
        made.append(device)
    return made


def stop_summary(stop: Stop) -> tuple[Any, ...]:
    """What must be equal in the stops of both engines: reason, fault, message and cycle."""
    fault = stop.fault
    found = None if fault is None else (fault.kind, fault.message, fault.values, fault.address)
    return stop.reason, found, stop.message, stop.cycle


def assert_same_state(fast: Device, reference: Device) -> None:
    """Fail unless both devices are in the same state."""
    assert not fast.diff(reference.snapshot())
    assert fast.hash() == reference.hash()
    assert fast.counters() == reference.counters()
