"""The fast engine and the reference: the same state in the same cycles, on random programs."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macaw.emu.core import Event
from macaw.emu.engines import ENGINES
from tests.emu.nnp.random_programs import TEXT, program

pytestmark = pytest.mark.once

LIMIT = 200_000


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1 << 32), st.sampled_from([0, 0, 50, 400]))
def test_the_same_end(seed: int, late: int) -> None:
    case = program(random.Random(seed))
    fast, plain = (case.device(engine, late) for engine in ENGINES)
    ends = [device.run(LIMIT) for device in (fast, plain)]
    assert ends[0].plain() == ends[1].plain()
    assert fast.counters() == plain.counters()
    assert fast.hash() == plain.hash()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 1 << 32), st.data())
def test_the_same_wherever_it_is_stopped(seed: int, data: st.DataObject) -> None:
    case = program(random.Random(seed), 5)
    end = case.device(ENGINES[0]).run(LIMIT).cycle
    cuts = sorted(data.draw(st.lists(st.integers(0, end), min_size=1, max_size=4)))
    fast, plain = (case.device(engine) for engine in ENGINES)
    for cut in cuts:
        stops = [device.run(until=cut).plain() for device in (fast, plain)]
        assert stops[0] == stops[1]
        assert fast.hash() == plain.hash()
    again = case.device(ENGINES[0])
    again.restore(plain.snapshot())
    assert again.run(LIMIT).plain() == fast.run(LIMIT).plain()
    assert again.hash() == fast.hash()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1 << 32))
def test_the_same_at_every_instruction(seed: int) -> None:
    case = program(random.Random(seed), 4)
    fast, plain = (case.device(engine) for engine in ENGINES)
    for _ in range(80):
        stops = [device.step_core("nnp", LIMIT).plain() for device in (fast, plain)]
        assert stops[0] == stops[1]
        assert fast.hash() == plain.hash()
        if stops[0][0] != "step":
            break


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 1 << 32))
def test_listeners_hear_the_same_and_change_nothing(seed: int) -> None:
    case = program(random.Random(seed), 5)
    heard: list[list[tuple[Any, ...]]] = []
    ends = []
    for engine in ENGINES:
        device = case.device(engine)
        events: list[tuple[Any, ...]] = []

        def hear(x: Event, events: list[tuple[Any, ...]] = events) -> None:
            events.append((x.kind, x.core.name, x.time, dict(x.values)))

        device.listen(hear)
        stop = device.run(LIMIT)
        ends.append((stop.plain(), device.hash()))
        heard.append(events)
    quiet = case.device(ENGINES[0])
    stop = quiet.run(LIMIT)
    assert ends == [(stop.plain(), quiet.hash())] * 2
    assert heard[0] == heard[1]
    words = [event for event in heard[0] if event[:2] == ("instruction", "nnp")]
    assert len(words) in (quiet.cores["nnp"].retired, quiet.cores["nnp"].retired + 1)


WORDS = [word for seed in range(40) for word in program(random.Random(seed), 3).words]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_words_end_in_a_stop(data: st.DataObject) -> None:
    """Words in any order, some with changed bits, end in a normal stop or a fault."""
    case = program(random.Random(data.draw(st.integers(0, 1 << 32))), 0)
    words = data.draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=20))
    bits = data.draw(st.lists(st.sampled_from([0, 0, 0, 1, 1 << 16, 1 << 24, 1 << 31, 0xFFFF])))
    words = [word ^ bit for word, bit in zip(words, bits + [0] * 20, strict=False)]
    ends = []
    for engine in ENGINES:
        device = case.device(engine)
        device.memory.poke(TEXT, struct.pack(f"<{len(words)}I", *words))
        stop = device.run(20_000)
        ends.append((stop.plain(), device.hash()))
        assert stop.reason in ("exit", "fault", "deadlock", "cycle limit")
    assert ends[0] == ends[1]


def test_a_state_is_saved_in_the_middle_of_a_chain(tmp_path: Path) -> None:
    case = program(random.Random(7), 6)
    whole = case.device(ENGINES[0])
    end = whole.run(LIMIT).cycle
    for part in (3, 2):
        device, other = case.device(ENGINES[0]), case.device(ENGINES[1])
        device.run(until=end // part)
        device.save(tmp_path / "state.npz")
        other.load_state(tmp_path / "state.npz")
        assert other.hash() == device.hash()
        assert other.run(LIMIT).cycle == end
        assert other.hash() == whole.hash()
