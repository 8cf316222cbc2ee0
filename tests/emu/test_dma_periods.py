"""Periods that the fast dma skips leave the state of the reference engine, wherever a run stops."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from macaw.emu.core import Event
from macaw.emu.device import Device
from macaw.emu.dma.core import DmaCore
from macaw.emu.dma.fast.core import FastDma
from macaw.emu.engines import ENGINES
from tests.emu.dma_devices import AT, TRACE, assert_same_state, stop_summary
from tests.emu.periodic_transfers import LOCAL, SIZE, periodic_devices
from tests.emu.toys import EXTERNAL, Step, describe, make, toy
from tests.emu.trace_witness import configure

pytestmark = pytest.mark.once

EXAMPLES = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@EXAMPLES
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from([1, 7, 90, 350, 1000]), max_size=6))
def test_both_engines_leave_one_state(seed: int, pauses: list[int]) -> None:
    fast, reference = periodic_devices(seed)
    for pause in [*pauses, None]:
        stops = [device.run(max_cycles=pause) for device in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert_same_state(fast, reference)


def _disturbed(seed: int) -> list[Device]:
    """A device of each engine: other accesses delay some reads of a long transfer.

    So the beats in the buffer become ready at irregular times when the dma acts alone again.
    """
    devices = []
    for engine in ENGINES:
        pick = random.Random(seed)
        script: list[Step] = [("copy", AT), ("work", pick.randrange(1, 60))]
        for _ in range(pick.randrange(1, 12)):
            script += [("load", EXTERNAL + 3 * SIZE, 4), ("work", pick.choice([1, 1, 2, 5, 9]))]
        script += [("work", pick.choice([100, 200])), ("await", 0), ("exit", 3)]
        latency = pick.choice([6, 20])
        device = make(
            toy(0, script),
            engine=engine,
            dma__divider=pick.choice([1, 1, 2, 3]),
            dma__buffer=pick.choice([2, 3, 5, 8, latency - 3, latency + 2]),
            dma__width=pick.choice([8, 16, 32]),
            mem__external_latency=latency,
            mem__external_width=pick.choice([16, 32]),
        )
        src, dst = pick.choice(
            [
                (EXTERNAL, EXTERNAL + SIZE),
                (EXTERNAL + 5, LOCAL),
                (LOCAL, EXTERNAL),
                (EXTERNAL, LOCAL),
            ]
        )
        device.memory.poke(src, random.Random(seed).randbytes(6000))
        device.memory.poke(AT, describe(dst, src, 6000))
        devices.append(device)
    return devices


@settings(EXAMPLES, max_examples=120)
@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from([20, 90, 350]), max_size=3))
def test_beats_become_ready_at_irregular_times(seed: int, pauses: list[int]) -> None:
    fast, reference = _disturbed(seed)
    for pause in [*pauses, None]:
        stops = [device.run(max_cycles=pause) for device in (fast, reference)]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert_same_state(fast, reference)


@pytest.mark.parametrize("parameters", [None, TRACE], ids=["not recorded", "recorded"])
@pytest.mark.parametrize(
    ("dst", "src"), [(EXTERNAL + SIZE, EXTERNAL), (LOCAL, EXTERNAL), (EXTERNAL, LOCAL)]
)
def test_most_acts_are_skipped(
    dst: int, src: int, parameters: dict[str, int] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    acts: list[int] = []
    act = DmaCore.act

    def counted(dma: FastDma) -> None:
        acts.append(dma.time)
        act(dma)

    monkeypatch.setattr(FastDma, "act", counted)
    device = make(toy(0, [("copy", AT), ("await", 0), ("end",)]))
    device.memory.poke(AT, describe(dst, src, 8000))
    device.memory.poke(src, bytes(x % 251 for x in range(8000)))
    if parameters is not None:
        configure(device, "dma", parameters)
    device.run()
    assert device.memory.peek(dst, 8000) == bytes(x % 251 for x in range(8000))
    assert device.counters()["dma"]["beats"] == 250
    assert len(acts) < 70


def test_listeners_hear_each_beat() -> None:
    """The dma skips no period while a listener hears its events."""
    heard = []
    for engine in ENGINES:
        device = make(toy(0, [("copy", AT), ("await", 0), ("end",)]), engine=engine)
        device.memory.poke(AT, describe(EXTERNAL + SIZE, EXTERNAL, 8000))
        events: list[Event] = []
        device.listen(events.append, ["dma"])
        device.run()
        heard.append([(event.kind, event.time) for event in events])
    assert heard[0] == heard[1]
    assert len(heard[0]) > 1000
