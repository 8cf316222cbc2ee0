"""Return bursts of the fast engine: beats of stores that it writes without requests."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from macaw.emu.engines import ENGINES
from macaw.emu.pe.fast.return_burst import ReturnBurst
from macaw.isa.pe import CORE
from tests.emu.pe_builder import Unit
from tests.emu.pe_engine_pairs import state_differences, stop_summary
from tests.emu.pe_random_lists import content_hashes
from tests.emu.toys import HALF, UNIT, Step, toy

pytestmark = pytest.mark.once


def stores(**config: Any) -> Unit:
    """A unit in which both clusters store 16 bytes twice, in beats of 2 bytes."""
    unit = Unit({"dist.bus_bytes": 2, **config})
    unit.config_packet(
        0, "ld both base=0", "mac base=0 acc=0", "spu nonsf src=0 dst=0", "st base=0"
    )
    for lengths in ([6] * 4 + [1] * 4, [2] * 8):  # the macs of the clusters differ in length
        weights = np.arange(6) < np.array(lengths)[:, None]
        out = unit.out(32, "int32")
        unit.exe(0, unit.weights(weights), unit.dense(np.arange(1, 7)), out=out, last=1)
    return unit


@pytest.fixture
def bursts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """A list with the beats of each ended burst, and how many it has written."""
    seen: list[tuple[int, int]] = []
    write = ReturnBurst.write

    def noted(self: ReturnBurst, bus: Any, now: int) -> int:
        seen.append((len(self.beats), write(self, bus, now)))
        return seen[-1][1]

    monkeypatch.setattr(ReturnBurst, "write", noted)
    return seen


@pytest.mark.parametrize("divider", [1, 2])
def test_a_look_in_each_cycle(divider: int, bursts: list[tuple[int, int]]) -> None:
    """A stop in any cycle, before or after the row's turn, shows the reference's state."""
    unit = stores(**{"pe.divider": divider})
    reference = unit.machine(engine=ENGINES[1]).device
    end = unit.machine(engine=ENGINES[1]).device.run().cycle
    fast = unit.machine(engine=ENGINES[0]).device
    fast.run(until=end // 3)
    before = fast.snapshot()
    for cycle in range(end // 3, end):
        turn = (0, CORE.number + 1)[cycle // divider % 2]
        fast.restore(before)
        for device in (fast, reference):
            device.run(until=cycle, turn=turn)
        assert not state_differences(fast, reference)
    assert {0, 1, 3} < {written for _, written in bursts}
    assert max(beats for beats, _ in bursts) > 4


@pytest.mark.parametrize("seed", range(24))
def test_another_core_in_the_half(seed: int, bursts: list[tuple[int, int]]) -> None:
    """Another core, which acts before or after the row, requests the half during the stores."""
    pick = random.Random(seed)
    unit = stores(**{"pe.divider": pick.choice([1, 2])})
    end = unit.machine(engine=ENGINES[1]).device.run().cycle
    script: list[Step] = [("work", pick.randrange(end // 3, end))]
    for _ in range(pick.choice([1, 3, 40])):
        at = UNIT + HALF + unit.data_at + 4 * pick.randrange(len(unit.data) // 4)
        script += [("load", at, 4), ("work", pick.choice([1, 2, 7]))]
    script.append(("end",))
    number = pick.choice([3, 90])
    pair = [unit.machine(toy(number, script), engine=engine) for engine in ENGINES]
    stops = [machine.device.run() for machine in pair]
    assert stop_summary(stops[0]) == stop_summary(stops[1])
    assert content_hashes(pair[0].device) == content_hashes(pair[1].device)
    assert pair[0].device.counters() == pair[1].device.counters()
    assert bursts
