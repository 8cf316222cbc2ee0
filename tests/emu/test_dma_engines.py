"""The fast dma has the state, counters and faults of the reference at any moment."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.device import Device
from macaw.emu.dma.fast.beats import beat_map
from macaw.emu.dma.fast.burst import Burst
from macaw.emu.dma.transfer import Transfer
from macaw.emu.engines import ENGINES
from tests.emu.dma_devices import (
    AT,
    REGIONS,
    SIZE,
    assert_same_state,
    random_devices,
    stop_summary,
)
from tests.emu.toys import EXTERNAL, HALF, UNIT, describe, make, times, toy

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
SEEDS = st.integers(0, 2**32 - 1)


@EXAMPLES
@given(SEEDS, st.lists(st.sampled_from([1, 2, 7, 30, 50, 90, 200]), max_size=8))
def test_programs(seed: int, pauses: list[int]) -> None:
    """Both engines agree on random programs, at pauses anywhere and at the end."""
    fast, reference = random_devices(seed)
    for pause in [*pauses, None, None]:
        stops = [device.run(max_cycles=pause) for device in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert_same_state(fast, reference)
    assert times(fast) == times(reference)


@settings(EXAMPLES, max_examples=60)
@given(SEEDS)
def test_only_the_end_is_looked_at(seed: int) -> None:
    """After a stop, bytes and counters are complete, although no state was read in between."""
    fast, reference = random_devices(seed)
    for _ in range(2):
        stops = [device.run(max_cycles=2000) for device in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
    for base in REGIONS:
        assert fast.memory.peek(base, SIZE) == reference.memory.peek(base, SIZE)
    assert fast.counters() == reference.counters()


@settings(EXAMPLES, max_examples=60)
@given(SEEDS)
def test_steps(seed: int) -> None:
    """Both engines agree at a stop in the middle of a cycle, when only some cores have acted."""
    fast, reference = random_devices(seed)
    for step in range(25):
        core = ("toy0", "toy2", "dma", "toy0")[step % 4]
        stops = [device.step_core(core, max_cycles=500) for device in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert_same_state(fast, reference)


@settings(EXAMPLES, max_examples=40)
@given(SEEDS, st.lists(st.integers(1, 120), min_size=1, max_size=5))
def test_snapshots_go_from_engine_to_engine(seed: int, pauses: list[int]) -> None:
    pair, (_, reference) = random_devices(seed), random_devices(seed)
    for number, pause in enumerate(pauses):
        here, there = pair[number % 2], pair[1 - number % 2]
        here.run(max_cycles=pause)
        there.restore(here.snapshot())
    last = pair[len(pauses) % 2]
    for device in (last, reference):
        for _ in range(3):  # there may be a breakpoint
            device.run(until=5000)
    assert_same_state(last, reference)


@settings(EXAMPLES, max_examples=40)
@given(SEEDS, st.integers(1, 150), st.sampled_from([None, ["dma"], ["toy0"]]))
def test_listeners_hear_the_same(seed: int, pause: int, names: list[str] | None) -> None:
    """A listener hears the same events of both engines, from any moment on."""
    heard: list[tuple[list[tuple[Any, ...]], str]] = []
    for device in random_devices(seed):
        device.run(max_cycles=pause)
        events: list[tuple[Any, ...]] = []
        note = lambda event, to=events: to.append((event.kind, event.time, event.values))  # noqa: E731
        device.listen(note, names)
        device.run(max_cycles=100)
        device.unlisten(note)
        for _ in range(3):
            device.run(until=5000)
        heard.append((events, device.hash()))
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
    """`BeatMap` computes any beat from its number; `Transfer.beat` gives the same beats in turn."""
    at = EXTERNAL + 4096 + src
    moved = Transfer(1, UNIT + 4096 + dst, at, row_bytes, rows, 64, stride, "toy0", 0)
    beats = beat_map(moved, width)
    number = narrow = 0
    for row in range(rows):
        position = 0
        while position < row_bytes:
            _, _, length, following = moved.beat(row, position, width)
            assert beats.number(row, position) == number
            assert beats.position(number) == (row, position)
            assert beats.length((row, position)) == length
            assert beats.narrow(number) == narrow
            number += 1
            narrow += length < width
            position = following
    assert beats.number(rows, 0) == number
    assert beats.position(number) == (rows, 0)


def _calls_of_the_dma(device: Device) -> int:
    """Run the device, and return how often the clock has called `advance` of the dma."""
    dma = device.cores["dma"]
    with patch.object(dma, "advance", wraps=dma.advance) as advance:
        device.run()
    assert device.counters()["dma"]["beats"] >= 80
    return advance.call_count


@pytest.mark.parametrize(
    ("dst", "src", "acts"),
    [
        (UNIT, EXTERNAL, 1),
        (EXTERNAL, UNIT, 2),
        (UNIT + HALF, UNIT, 1),
        (UNIT, EXTERNAL + 5, 1),
        (EXTERNAL + SIZE, EXTERNAL, 1),
        (0x1000, EXTERNAL, 1),
    ],
)
def test_a_long_transfer_takes_few_acts(dst: int, src: int, acts: int) -> None:
    """The fast dma needs one call for a long transfer if no other core acts.

    A transfer from on-chip to external memory needs a second call, for the end of its last write.
    """
    device = make(toy(0, [("copy", AT), ("await", 0), ("end",)]))
    device.memory.poke(AT, describe(dst, src, 640, 4, 700, 641))
    assert _calls_of_the_dma(device) == acts


def test_beside_a_core_that_acts_the_dma_sleeps() -> None:
    """While another core acts, the clock calls the fast dma twice.

    The first call is when the dma begins to skip cycles, the second is for the last write.
    """
    device = make(toy(0, [("copy", AT), ("work", 30), ("work", 9), ("await", 0), ("end",)]))
    device.memory.poke(AT, describe(UNIT, EXTERNAL, 640, 4, 700, 641))
    assert _calls_of_the_dma(device) == 2


@pytest.mark.parametrize(
    ("row_bytes", "rows", "stride"), [(64, 3, HALF), (4, 3, HALF), (1, 64, -1), (3, 64, -5)]
)
@pytest.mark.parametrize("reads", [True, False])
def test_the_last_bytes_of_halves(row_bytes: int, rows: int, stride: int, reads: bool) -> None:
    """A transfer's row that ends at the last byte of a half belongs to the half of its start."""
    onchip, external = (UNIT + HALF - row_bytes, stride), (EXTERNAL, row_bytes)
    source, target = (onchip, external) if reads else (external, onchip)
    made = []
    for engine in ENGINES:
        script = [("copy", AT), ("await", 0), ("end",)]
        device = make(toy(0, script), engine=engine, mem__unit_half_bytes=HALF)
        words = describe(target[0], source[0], row_bytes, rows, target[1], source[1])
        device.memory.poke(AT, words)
        for row in range(rows):
            device.memory.poke(source[0] + row * source[1], bytes([row + 1] * row_bytes))
        device.run()
        for row in range(rows):
            came = device.memory.peek(target[0] + row * target[1], row_bytes)
            assert came == bytes([row + 1] * row_bytes)
        made.append(device)
    assert_same_state(*made)


@pytest.mark.parametrize("dst", [EXTERNAL + SIZE, UNIT])
def test_who_waited_for_a_transfer_comes_before_the_next_one(dst: int) -> None:
    """A core that waited for a transfer acts before the next transfer.

    A cycle after the end of the first transfer, the core stores where the next transfer reads.
    """
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
    assert_same_state(*made)


def _finished_by(device: Device) -> int:
    """Run a device with the fast dma; return how many transfers a burst has finished."""
    with patch.object(Burst, "finish", autospec=True, side_effect=Burst.finish) as finish:
        device.run()
    return finish.call_count


@pytest.mark.few(4)
@pytest.mark.parametrize("number", [2, 99])
@pytest.mark.parametrize("what", ["load", "store"])
@pytest.mark.parametrize("last", [UNIT + 3 * 96, UNIT + 32, UNIT + HALF])
def test_an_access_in_the_cycles_around_the_last_write(number: int, what: str, last: int) -> None:
    """A core with a number before or after that of the dma uses a half of the destination.

    It does so once, in each cycle from the first beats to the end of a strided transfer. The fast
    dma grants its last write itself only if no other core acts in that cycle.
    """
    own = 0
    for wait in range(1, 60):
        made = []
        for engine in ENGINES:
            access = ("load", last, 4) if what == "load" else ("store", last, 4, 77)
            copier = toy(0, [("copy", AT), ("await", 0), ("copy", AT), ("await", 0), ("end",)])
            other = toy(number, [("work", wait), access, ("work", 5), access, ("end",)])
            device = make(copier, other, engine=engine)
            device.memory.poke(AT, describe(UNIT, EXTERNAL, 64, 4, 96, 100))
            device.memory.poke(EXTERNAL, bytes(range(200)) * 2)
            if engine == ENGINES[0]:
                own += _finished_by(device)
            else:
                device.run()
            made.append(device)
        assert_same_state(*made)
        assert times(made[0]) == times(made[1])
        assert times(made[0], f"toy{number}") == times(made[1], f"toy{number}")
    assert own >= 60


@pytest.mark.parametrize("width", [3, 6, 12])
@pytest.mark.parametrize(("dst", "src"), [(UNIT, EXTERNAL), (EXTERNAL, UNIT), (UNIT, EXTERNAL + 5)])
def test_beats_that_cross_blocks_of_the_channel(width: int, dst: int, src: int) -> None:
    """Beats of 3 bytes begin at multiples of 3, to which external memory's address does not belong.

    So some of them take two beats of a channel of 12 bytes.
    """
    made = []
    for engine in ENGINES:
        script = [("copy", AT), ("await", 0), ("end",)]
        device = make(
            toy(0, script), engine=engine, dma__width=width, mem__external_width=12, dma__divider=2
        )
        device.memory.poke(AT, describe(dst, src, 200, 3, 256, 200))
        device.run()
        made.append(device)
    assert_same_state(*made)
    assert times(made[0]) == times(made[1])
