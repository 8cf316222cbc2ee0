"""Feed streams of the fast engine: segments that a lockstep group uses before the bus sends them.

In the loops here, each iteration multiplies its own segment, or adds its own segments of partial
sums, or does both. The group computes many iterations before the bus sends their segments.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from macaw.emu.engines import ENGINES
from macaw.emu.pe.fast import lockstep_iterations
from macaw.emu.pe.fast.feed_stream import FeedStream
from macaw.emu.pe.fast.row import FastRow
from tests.emu.pe_adding_loops import AddingLoop
from tests.emu.pe_builder import Machine, Unit
from tests.emu.pe_engine_pairs import ENGINE_PAIRS, PAUSES, SEEDS, state_differences, stop_summary
from tests.emu.pe_random_lists import content_hashes
from tests.emu.pe_resident_loops import LOOP_SUMS, LoopMaker, long_loop
from tests.emu.toys import HALF, UNIT, Step, toy

pytestmark = pytest.mark.once


@pytest.fixture
def streams(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """A list with each ended stream: its number of segments, and whether it was complete."""
    seen: list[tuple[int, bool]] = []
    write = FeedStream.write

    def noted(self: FeedStream, bus: Any, group: Any, now: int) -> int:
        seen.append((len(self.stream.cycles), now >= self.end))
        return write(self, bus, group, now)

    monkeypatch.setattr(FeedStream, "write", noted)
    return seen


def agree_at_end(pair: list[Machine]) -> None:
    fast, reference = (machine.device for machine in pair)
    assert stop_summary(fast.run(max_cycles=100_000)) == stop_summary(
        reference.run(max_cycles=100_000)
    )
    assert content_hashes(fast) == content_hashes(reference)
    assert fast.counters() == reference.counters()


def look_at_cycles(unit: Unit, step: int) -> None:
    """Compare both engines in each `step`th cycle; the fast one runs to it without a stop."""
    reference = unit.machine(engine=ENGINES[1]).device
    end = unit.machine(engine=ENGINES[1]).device.run().cycle
    fast = unit.machine(engine=ENGINES[0]).device
    begin = fast.snapshot()
    for cycle in range(end // 3, end, step):
        fast.restore(begin)
        for device in (fast, reference):
            device.run(until=cycle)
        assert not state_differences(fast, reference)


@pytest.mark.parametrize("balance", [False, True])
@pytest.mark.parametrize("sums", ["none", "bias", "each", "before"])
def test_all_but_the_first_and_the_last_two_iterations(
    balance: bool, sums: str, streams: list[tuple[int, bool]]
) -> None:
    for seed in range(2):
        unit = long_loop(seed, balance, sums)
        pair = [unit.machine(engine=engine) for engine in ENGINES]
        agree_at_end(pair)
        # 14 iterations without the first and the last two; "each" also takes partial sums
        assert streams == [(22 if sums == "each" else 11, True)]
        streams.clear()
        assert isinstance(pair[0].row, FastRow)
        assert pair[0].row.controls.splits == 0


@pytest.mark.parametrize(("at_once", "iterations"), [(1, 14), (2, 8)])
def test_sums_for_activations_that_have_arrived(
    at_once: int, iterations: int, streams: list[tuple[int, bool]]
) -> None:
    """All activations come first. Then each iteration takes the sums to which its macs add."""
    config: dict[str, Any] = {"pe.element": "int8"}
    for seed in range(4):
        maker = LoopMaker(seed, "first", sums="each", **config)
        maker.blocks, maker.k, maker.at_once, maker.iterations = 1, 16, at_once, iterations
        maker.m = at_once * iterations
        loop = maker.loop()
        pair = [loop.unit.machine(engine=engine) for engine in ENGINES]
        agree_at_end(pair)
        results = pair[0].read(loop.out, loop.expected().size)
        np.testing.assert_array_equal(results, loop.expected().reshape(-1))
        assert streams == [(iterations - 3, True)]
        streams.clear()


class OverflowingLoop(LoopMaker):
    """A loop whose sums soon saturate: it adds its bias in each iteration and moves no sums out."""

    def _start_sums(self) -> tuple[NDArray[np.int64], list[Any]]:
        bias = np.full((self.clusters, self.pes, 1), 170_000_000)
        return np.zeros((self.clusters, self.pes, self.m), int), [self.unit.psums(bias)]


@pytest.mark.parametrize("seed", range(3))
def test_a_group_splits_when_its_stream_ends(seed: int, streams: list[tuple[int, bool]]) -> None:
    """A group splits when the first iteration after its stream saturates."""
    config: dict[str, Any] = {"pe.element": "int8", "pe.overflow": "saturate"}
    maker = OverflowingLoop(seed, "two places", False, "bias", **config)
    maker.iterations = maker.m = 14
    unit: Any = maker.unit
    packet, exe = unit.config_packet, unit.exe

    def without_moves(buffer: int, *lines: str, steps: Any = (), **head: Any) -> Any:
        if steps:
            lines, steps = tuple(x for x in lines if not x.startswith("spu")), steps[:-1]
        return packet(buffer, *lines, steps=steps, **head)

    unit.config_packet = without_moves
    unit.exe = lambda *args, **head: exe(*args, **{**head, "last": 0})
    unit = maker.loop().unit
    agree_at_end([unit.machine(engine=engine) for engine in ENGINES])
    assert streams == [(11, True)]


@settings(ENGINE_PAIRS, max_examples=20)
@given(SEEDS, st.booleans(), LOOP_SUMS, PAUSES)
def test_looks(seed: int, balance: bool, sums: str, pauses: list[int]) -> None:
    unit = long_loop(seed, balance, sums)
    pair = [unit.machine(engine=engine) for engine in ENGINES]
    for pause in pauses:
        stops = [machine.device.run(max_cycles=pause) for machine in pair]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        assert not state_differences(pair[0].device, pair[1].device)
    agree_at_end(pair)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("seed", "divider", "sums"), [(1, 1, "none"), (2, 2, "each"), (2, 2, "none"), (1, 1, "each")]
)
def test_a_look_in_each_cycle(
    seed: int, divider: int, sums: str, streams: list[tuple[int, bool]]
) -> None:
    """If a run stops during a stream, it shows the reference's state; the stream ends early."""
    config: dict[str, Any] = {"pe.divider": divider, "dist.bus_bytes": 3}
    unit = long_loop(seed, sums=sums, **config)
    look_at_cycles(unit, 11)
    assert sum(not complete for _, complete in streams) > 5


@settings(ENGINE_PAIRS, max_examples=20)
@given(SEEDS, st.booleans(), LOOP_SUMS, st.sampled_from([3, 90]), st.sampled_from([2, 3, 128]))
def test_another_core_in_the_half(
    seed: int, balance: bool, sums: str, number: int, most: int
) -> None:
    """Another core reads and changes segments before the bus brings them; both engines agree.

    A stream has at most `most` segments; the next stream may follow at once.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep_iterations, "_MOST", most)
        _disturb(long_loop(seed, balance, sums), seed, number)


def _disturb(unit: Unit, seed: int, number: int) -> None:
    pick = random.Random(seed)
    script: list[Step] = [("work", pick.randrange(1, 400))]
    for _ in range(pick.choice([1, 3, 40])):
        at = UNIT + HALF + unit.data_at + 4 * pick.randrange(len(unit.data) // 4)
        script.append(pick.choice([("load", at, 4), ("store", at, 4, pick.randrange(1 << 8))]))
        script.append(("work", pick.choice([1, 2, 30])))
    script.append(("end",))
    pair = [unit.machine(toy(number, script), engine=engine) for engine in ENGINES]
    for machine in pair:
        machine.device.run(max_cycles=pick.randrange(1, 500) if machine is pair[0] else 1)
    pair[1].device.run(until=pair[0].device.cycle)
    if pair[0].device.stopped is None:
        assert not state_differences(pair[0].device, pair[1].device)
    agree_at_end(pair)


# Loops that add partial sums


@pytest.mark.parametrize("seed", range(8))
def test_additions(seed: int, streams: list[tuple[int, bool]]) -> None:
    """All but the first and the last iteration of a loop of additions are computed at once."""
    loop = AddingLoop(seed)
    outcomes = [loop.exe() for _ in range(2)]
    pair = [loop.unit.machine(engine=engine) for engine in ENGINES]
    agree_at_end(pair)
    assert streams == [(12 * loop.loads, True)] * 2
    assert isinstance(pair[0].row, FastRow)
    assert (pair[0].row.controls.groups, pair[0].row.controls.splits) == (2, 0)
    for out, wanted in outcomes:
        results = pair[0].read(out, wanted.size)
        np.testing.assert_array_equal(results, wanted.reshape(-1))


@pytest.mark.few(2)
@pytest.mark.parametrize(("seed", "divider"), [(4, 1), (7, 2)])
def test_a_look_at_additions_in_each_cycle(
    seed: int, divider: int, streams: list[tuple[int, bool]]
) -> None:
    """If a run stops while additions are streamed, it shows the reference's state."""
    loop = AddingLoop(seed, 9, config={"pe.divider": divider, "dist.bus_bytes": 8})
    loop.exe()
    look_at_cycles(loop.unit, 7)
    assert sum(not complete for _, complete in streams) > 5


@settings(ENGINE_PAIRS, max_examples=20)
@given(SEEDS, st.sampled_from([3, 90]), st.sampled_from([2, 3, 128]))
def test_another_core_in_the_half_of_additions(seed: int, number: int, most: int) -> None:
    """Another core reads and changes partial sums before the bus brings them."""
    loop = AddingLoop(seed)
    loop.exe()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lockstep_iterations, "_MOST", most)
        _disturb(loop.unit, seed, number)
