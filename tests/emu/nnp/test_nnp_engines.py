"""The fast engine and the reference: the same state in the same cycles, on random programs."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from emu.engines import ENGINES
from tests.emu.nnp.random_programs import program

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
