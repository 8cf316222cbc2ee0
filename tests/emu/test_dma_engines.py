"""The fast engine of the dma is the reference: same state, cycles, counters, faults at any moment."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.core import Core
from macaw.emu.device import Builder, Device
from macaw.emu.dma.fast.beats import beat_map
from macaw.emu.dma.transfer import Transfer
from macaw.emu.engines import ENGINES
from macaw.emu.faults import Stop
from tests.emu.toys import EXTERNAL, HALF, UNIT, Step, describe, make, times, toy
from tests.emu.trace_witness import configure

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)
TRACE = {"mode": 1, "num": 1, "step": 1, "overhead": 4}  # each transfer, in four groups by turns
AT = 0x8000  # of the descriptions, in local memory
SIZE = 8192  # of what is looked at of each memory: half a unit
HALVES = tuple(UNIT + HALF * number for number in range(4))
REGIONS = (0x1000, *HALVES, EXTERNAL, EXTERNAL + SIZE)
COPIES = 8
DESCRIPTIONS = (*(AT + 24 * number for number in range(COPIES)), HALVES[2] + 64, EXTERNAL + 64)


def confined(number: int, script: list[Step], unit: int) -> Builder:
    """A core as a row of the array: it runs when it is dispatched, and reaches only its unit."""

    def build(device: Device) -> list[Core]:
        made = toy(number, script, idle=True, unit=unit)(device)
        for core in made:
            core.confined = True
        return made

    return build


def transfer(pick: random.Random) -> bytes:
    """A description: few or many rows, some along several halves, some over themselves."""
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
    return describe(dst, src, row_bytes, rows, dst_stride, src_stride)


def access(pick: random.Random, regions: tuple[int, ...]) -> Step:
    """A load, store or beat, mostly where transfers are."""
    at = pick.choice(regions) + 4 * pick.randrange(260)
    if pick.random() < 0.2 and UNIT <= at < EXTERNAL:
        return ("beat", [(at, 16), (at + 128, 4)])
    return ("load", at, 4) if pick.random() < 0.5 else ("store", at, 4, pick.randrange(1 << 32))


def commands(pick: random.Random, starts: bool) -> list[Step]:
    """What core 0 does: it copies, waits, looks at memory, swaps, dispatches, starts core 5."""
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
    return [*script, *pick.choice([[("await", 0)], [("break",)], []]), ("exit", 3)]


def devices(seed: int) -> list[Device]:
    """The same device, program and contents for each engine."""
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


def said(stop: Stop) -> tuple[Any, ...]:
    """All of a stop but the cycle in which the clock found nobody to run."""
    fault = stop.fault
    found = None if fault is None else (fault.kind, fault.message, fault.values, fault.address)
    return stop.reason, found, stop.message, stop.cycle


def alike(fast: Device, reference: Device) -> None:
    """Fail unless both devices are in the same state."""
    assert not fast.diff(reference.snapshot())
    assert fast.hash() == reference.hash()
    assert fast.counters() == reference.counters()


@EXAMPLES
@given(SEEDS, st.lists(st.sampled_from([1, 2, 7, 30, 50, 90, 200]), max_size=8))
def test_programs(seed: int, pauses: list[int]) -> None:
    """Stopped anywhere, and at the end."""
    fast, reference = devices(seed)
    for pause in [*pauses, None, None]:
        stops = [device.run(max_cycles=pause) for device in (fast, reference)]
        assert said(stops[0]) == said(stops[1])
        alike(fast, reference)
    assert times(fast) == times(reference)


@settings(EXAMPLES, max_examples=60)
@given(SEEDS)
def test_only_the_end_is_looked_at(seed: int) -> None:
    """Bytes and counters are there when a run has stopped, without a look at the state."""
    fast, reference = devices(seed)
    for _ in range(2):
        stops = [device.run(max_cycles=2000) for device in (fast, reference)]
        assert said(stops[0]) == said(stops[1])
    for base in REGIONS:
        assert fast.memory.peek(base, SIZE) == reference.memory.peek(base, SIZE)
    assert fast.counters() == reference.counters()


@settings(EXAMPLES, max_examples=60)
@given(SEEDS)
def test_steps(seed: int) -> None:
    """A stop in the middle of a cycle, when some have had it."""
    fast, reference = devices(seed)
    for step in range(25):
        core = ("toy0", "toy2", "dma", "toy0")[step % 4]
        stops = [device.step_core(core, max_cycles=500) for device in (fast, reference)]
        assert said(stops[0]) == said(stops[1])
        alike(fast, reference)


@settings(EXAMPLES, max_examples=40)
@given(SEEDS, st.lists(st.integers(1, 120), min_size=1, max_size=5))
def test_snapshots_go_from_engine_to_engine(seed: int, pauses: list[int]) -> None:
    pair, (_, reference) = devices(seed), devices(seed)
    for number, pause in enumerate(pauses):
        here, there = pair[number % 2], pair[1 - number % 2]
        here.run(max_cycles=pause)
        there.restore(here.snapshot())
    last = pair[len(pauses) % 2]
    for device in (last, reference):
        for _ in range(3):  # there may be a breakpoint
            device.run(until=5000)
    alike(last, reference)


@settings(EXAMPLES, max_examples=40)
@given(SEEDS, st.integers(1, 150), st.sampled_from([None, ["dma"], ["toy0"]]))
def test_listeners_hear_the_same(seed: int, pause: int, names: list[str] | None) -> None:
    """From any moment on; nothing is left out while somebody listens."""
    heard: list[list[Any]] = []
    for device in devices(seed):
        device.run(max_cycles=pause)
        events: list[Any] = []
        note = lambda event, to=events: to.append((event.kind, event.time, event.values))  # noqa: E731
        device.listen(note, names)
        device.run(max_cycles=100)
        device.unlisten(note)
        for _ in range(3):
            device.run(until=5000)
        heard.append([events, device.hash()])
    assert heard[0] == heard[1]


@EXAMPLES
@given(
    st.integers(0, 700),
    st.integers(0, 700),
    st.integers(1, 200),
    st.integers(1, 9),
    st.integers(-300, 300),
    st.sampled_from([1, 4, 5, 32]),
)
def test_beats_by_number(
    src: int, dst: int, row_bytes: int, rows: int, stride: int, width: int
) -> None:
    """`BeatMap` against the beats of `Transfer.beat`, one after the other."""
    at = EXTERNAL + 4096 + src
    moved = Transfer(1, UNIT + 4096 + dst, at, row_bytes, rows, 64, stride, "toy0", 0)
    beats = beat_map(moved, width)
    number = moved_bytes = narrow = 0
    for row in range(rows):
        position = 0
        while position < row_bytes:
            _, _, length, following = moved.beat(row, position, width)
            assert beats.number(row, position) == number
            assert beats.position(number) == (row, position)
            assert beats.length((row, position)) == length
            assert (beats.bytes_before(number), beats.narrow(number)) == (moved_bytes, narrow)
            number, moved_bytes = number + 1, moved_bytes + length
            narrow += length < width
            position = following
    assert beats.number(rows, 0) == number
    assert beats.position(number) == (rows, 0)


@pytest.mark.parametrize(
    ("dst", "src", "acts"),
    [
        (UNIT, EXTERNAL, 2),
        (EXTERNAL, UNIT, 3),
        (UNIT + HALF, UNIT, 2),
        (UNIT, EXTERNAL + 5, 2),
        (EXTERNAL + SIZE, EXTERNAL, 1),
        (0x1000, EXTERNAL, 1),
    ],
)
def test_a_long_transfer_takes_few_acts(dst: int, src: int, acts: int) -> None:
    """One to fall asleep, one for the last write; to external memory one to be there.

    Those that ask for no on-chip memory go on as long as nobody else acts.
    """
    device = make(toy(0, [("copy", AT), ("await", 0), ("end",)]))
    device.memory.poke(AT, describe(dst, src, 640, 4, 700, 641))
    dma = device.cores["dma"]
    calls: list[int] = []
    advance = dma.advance

    def called(limit: int) -> Stop | None:
        calls.append(dma.time)
        return advance(limit)

    dma.advance = called  # type: ignore[method-assign]
    device.run()
    assert device.counters()["dma"]["beats"] >= 80
    assert len(calls) == acts


@pytest.mark.parametrize("dst", [EXTERNAL + SIZE, UNIT])
def test_who_waited_for_a_transfer_comes_before_the_next_one(dst: int) -> None:
    """It stores where that one reads, one cycle after the end of the first."""
    made = []
    for engine in ENGINES:
        script = [("copy", AT), ("copy", AT + 24), ("await", 1), ("store", EXTERNAL, 4, 77)]
        device = make(toy(0, [*script, ("await", 0), ("end",)]), engine=engine)
        device.memory.poke(AT, describe(EXTERNAL + 2 * SIZE, EXTERNAL, 640))
        device.memory.poke(AT + 24, describe(dst, EXTERNAL, 640))
        device.run()
        assert device.memory.peek(dst, 4) == (77).to_bytes(4, "little")
        assert device.memory.peek(EXTERNAL + 2 * SIZE, 4) == bytes(4)
        made.append(device)
    alike(*made)
