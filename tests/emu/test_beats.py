"""Beats of external memory and of stores by laying out each byte; ends of steps by counting."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from macaw.emu.channel import Channel
from macaw.emu.fim.overflows import Overflows
from macaw.emu.floats import all_finite
from macaw.emu.pe import timing
from macaw.emu.pe.store_layout import store_layout


def pieces(offset: int, length: int, width: int) -> list[int]:
    """The bytes of an access that each beat carries."""
    beats: dict[int, int] = {}
    for byte in range(offset, offset + length):
        beats[byte // width] = beats.get(byte // width, 0) + 1
    return list(beats.values())


@pytest.mark.parametrize("width", [1, 4, 32])
def test_an_access_takes_a_beat_for_each_row_of_the_channel(width: int) -> None:
    for offset in (0, 1, 3, 4, 31, 32, 63):
        for length in (1, 2, 4, 31, 32, 33, 64, 65):
            channel = Channel(10, width)
            found = pieces(offset, length, width)
            assert channel.take(5, offset, length) == (len(found), 5, 15 + len(found))
            assert channel.free == 5 + len(found)
            assert channel.partial(offset, length) == sum(size < width for size in found)
    assert Channel(10, width).partial(3, 0) == 0


def test_accesses_wait_for_the_channel() -> None:
    channel = Channel(2, 4)
    assert channel.take(7, 0, 8) == (2, 7, 11)
    assert channel.take(8, 0, 4) == (1, 9, 12)  # it is busy in cycles 7 and 8
    assert channel.take(10, 0, 4) == (1, 10, 13)
    assert channel.take(3, 0, 4) == (1, 11, 14)


@pytest.mark.parametrize(
    ("size", "width"), [(1, 4), (2, 4), (4, 4), (4, 2), (4, 6), (3, 4), (8, 32)]
)
def test_a_store_writes_its_elements_by_address_in_full_beats(size: int, width: int) -> None:
    rng = random.Random(size * width)
    for _ in range(40):
        writers = np.array(sorted(rng.sample(range(6), rng.randint(1, 5))), np.intp)
        count, before = rng.randint(1, 3), rng.randint(0, 2)
        # results of a PE, then of the next, or the PEs' results in turns
        step, stride = rng.choice([(size, 5 * size), (6 * size, size), (size + 8, 10 * (size + 8))])
        offset = rng.choice([0, 16])
        order, beats = store_layout(
            offset, stride, (step, before, count), writers.tobytes(), size, width
        )
        addresses = [
            offset + pe * stride + (before + at) * step for pe in writers for at in range(count)
        ]
        assert [addresses[place] for place in order] == sorted(addresses)
        stream = [address + byte for address in sorted(addresses) for byte in range(size)]
        assert len(beats) == -(-len(stream) // width)
        for number, ranges in enumerate(beats):
            carried = stream[number * width : (number + 1) * width]
            assert [at + byte for at, length in ranges for byte in range(length)] == carried
            # neighbours are one range
            assert all(a + n != b for (a, n), (b, _) in pairwise(ranges))


@pytest.mark.parametrize(
    ("results", "rate", "latency"), [(1, 1, 1), (5, 1, 3), (5, 2, 4), (6, 2, 1), (16, 16, 9)]
)
def test_the_end_of_a_special_function(results: int, rate: int, latency: int) -> None:
    """Some results enter in each cycle; the last ones are ready `latency` cycles later."""
    cycle, left = 100, results
    while left > rate:
        left -= rate
        cycle += 1
    assert timing.sfu_end(100, results, rate, latency) == cycle + latency - 1


@pytest.mark.parametrize("divider", [1, 2, 3])
def test_the_first_beat_of_a_list(divider: int) -> None:
    """In the first cycle of the row's clock that begins when the packet has been fetched."""
    for dispatched in range(7):
        for latency, memory in ((4, 9), (9, 4), (3, 3)):
            ready = dispatched + max(latency, memory)
            found = timing.first_cycle(dispatched, latency, memory, divider)
            assert (found - 1) * divider < ready <= found * divider


def test_the_stages_of_a_sequence() -> None:
    """Decoding, fetching operands, then execution; the scalar unit, then writing back."""
    assert timing.first_start(10) == 13
    assert timing.write_back(10) == 12
    assert timing.next_start(12) == 14
    assert (timing.ld_end(9, 5), timing.ld_end(4, 9)) == (10, 9)
    assert (timing.move_end(7, 1), timing.move_end(7, 4)) == (7, 10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_arrays_of_finite_numbers(dtype: Any) -> None:
    largest = np.finfo(dtype).max
    assert all_finite(np.array([largest, -largest, 0, -0.0], dtype))
    assert all_finite(np.zeros(0, dtype))
    for bad in (np.inf, -np.inf, np.nan):
        assert not all_finite(np.array([1, bad], dtype))


def test_overflows_by_word_and_format() -> None:
    found = Overflows()
    places = np.array([0, 3, 5])
    found.add(8, 1, places, np.array([2, 0, 1]))
    found.add(4, 1, places, np.array([0, 0, 0]))
    found.add(8, 0, places, np.array([0, 4, 0]))
    found.add(8, 1, places, np.array([0, 1, 1]))
    assert found.total == 9
    assert found.plain() == [[8, 0, 4, 0b1000], [8, 1, 5, 0b101001]]
    again = Overflows()
    again.take(found.plain())
    assert (again.plain(), again.total) == (found.plain(), 9)
