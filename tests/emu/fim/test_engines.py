"""The fast engine of an island has the reference's state at any cycle, and the same faults."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.emu.fim.engine_pairs import (
    DEVICES,
    PHASES_WITHOUT_SHRINKING,
    machines_of_engines,
    random_sources,
    stop_summary,
)

pytestmark = pytest.mark.once


@settings(max_examples=40, deadline=None, phases=PHASES_WITHOUT_SHRINKING)
@given(
    random_sources(),
    st.sampled_from(DEVICES),
    st.integers(0, 1 << 30),
    st.lists(st.integers(1, 90), max_size=6),
)
def test_engines_agree(lines, device, seed, pauses):
    pair = machines_of_engines(lines, device, seed if seed % 3 == 0 else None)
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for machine in pair:
        for bank in range(4):
            for row in range(3):
                machine.put(bank, row, 0, data[bank, row])
        machine.start()
    for pause in [*pauses, 100_000]:
        stops = [machine.run(pause) for machine in pair]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        fast, reference = (machine.device for machine in pair)
        different = fast.diff(reference.snapshot())
        if stops[0].reason == "exit":  # the cycle in which the clock found nobody to run
            different = [item for item in different if item[0] != "device"]
        assert different == []
        if stops[0].reason != "cycle limit":
            break


@settings(max_examples=15, deadline=None, phases=PHASES_WITHOUT_SHRINKING)
@given(random_sources(), st.integers(1, 400))
def test_a_snapshot_goes_on_as_the_run_does(lines, pause):
    machine, _ = machines_of_engines(lines, DEVICES[0])
    machine.start().run(pause)
    saved = machine.device.snapshot()
    first = stop_summary(machine.run()), machine.device.hash()
    machine.device.restore(saved)
    assert (stop_summary(machine.run()), machine.device.hash()) == first


BUSY = """
.block banks=0
mmr b0_low, 0x40030000
mmr b0_high, 0x40038000
mmr op, mul
mmr arrange, dot
loop 30
act 0
rop <- iosa[1]
rz <- rop * iosa[0:16]
push rz, 0
act 1
rz <- rop * iosa[4:20]
iosa[9] <- rz
endloop
end
.block banks=1
mmr op, mul
mmr accumulate, 1
act 0
loop 30
pull rop, 0
rz <- rop * iosa[3:30]
endloop
iosa[0] <- rz
end
.block banks=2
mmr op, add
act 2
loop 9
fim 6, 0, 1, 32
gio <- iosa[3]
fim 7, 0, 0, 100
endloop
end
"""


@pytest.mark.parametrize("device", [DEVICES[0], *DEVICES[3:6]], ids=lambda x: x["fim.t_refi"])
def test_blocks_that_work_together_for_long(device):
    """Both engines agree on blocks that run together for long, with refreshes and pauses."""
    pair = machines_of_engines(BUSY.strip().split("\n"), device)
    data = np.random.default_rng(3).normal(size=(4, 3, 512)).astype(np.float16)
    for machine in pair:
        for bank in range(4):
            for row in range(3):
                machine.put(bank, row, 0, data[bank, row])
        machine.start()
    for pause in (500, 777, 1501, 100_000):
        stops = [machine.run(pause) for machine in pair]
        assert stop_summary(stops[0]) == stop_summary(stops[1])
        different = pair[0].device.diff(pair[1].device.snapshot())
        assert [item for item in different if item[0] != "device"] == []
    assert stops[0].reason == "exit"
    counters = pair[0].island.counters()
    assert (counters["waits_refresh"] > 0) == (device["fim.t_refi"] > 0)
