"""The fast engine of an island is the reference: same state at any cycle, same faults, same end."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from macaw.asm.diagnostics import AssemblyError
from macaw.emu.engines import ENGINES
from macaw.isa import config
from tests.emu.fim import random_programs
from tests.emu.fim.machine import Machine

pytestmark = pytest.mark.once

DEVICES = [
    config.load("tiny"),
    config.load("tiny").changed({"fim.island.0.divider": 3, "fim.island.0.lanes": 4}),
    config.load("tiny").changed({"fim.island.0.rz_slices": 16, "fim.t_ccdl": 5, "fim.alu.add": 9}),
    config.load("tiny").changed(
        {
            "fim.organisation": "dimm",
            "fim.ranks": 2,
            "fim.bank_groups": 1,
            "fim.group_banks": 2,
            "fim.chip_bits": 16,
        }
    ),
]


def programs():
    """Random programs by their seed: nothing is gained by making them smaller."""
    return st.integers(0, 1 << 32).map(lambda seed: random_programs.program(Random(seed)))


def machines(lines, device, jitter=None):
    """Both engines with the lines that can be assembled."""
    while True:
        try:
            return [Machine(lines, device, engine, jitter=jitter) for engine in ENGINES]
        except AssemblyError as error:
            wrong = {item.span.line - 4 for item in error.errors}
            lines = [line for place, line in enumerate(lines) if place not in wrong]


PHASES = [Phase.explicit, Phase.reuse, Phase.generate]  # to shrink such programs takes minutes


def said(stop):
    fault = stop.fault
    return stop.reason, stop.message, None if fault is None else (fault.address, fault.cycle)


@settings(max_examples=100, deadline=None, phases=PHASES)
@given(
    programs(),
    st.sampled_from(DEVICES),
    st.integers(0, 1 << 30),
    st.lists(st.integers(1, 90), max_size=6),
)
def test_engines_agree(lines, device, seed, pauses):
    pair = machines(lines, device, seed if seed % 3 == 0 else None)
    data = np.random.default_rng(seed).normal(size=(4, 3, 512)).astype(np.float16)
    for machine in pair:
        for bank in range(4):
            for row in range(3):
                machine.put(bank, row, 0, data[bank, row])
        machine.start()
    for pause in [*pauses, 100_000]:
        stops = [machine.run(pause) for machine in pair]
        assert said(stops[0]) == said(stops[1])
        fast, reference = (machine.device for machine in pair)
        different = fast.diff(reference.snapshot())
        if stops[0].reason == "exit":  # the cycle in which the clock found nobody to run
            different = [item for item in different if item[0] != "device"]
        assert different == []
        if stops[0].reason != "cycle limit":
            break


@settings(max_examples=30, deadline=None, phases=PHASES)
@given(programs(), st.integers(1, 400))
def test_a_snapshot_goes_on_as_the_run_does(lines, pause):
    machine, _ = machines(lines, DEVICES[0])
    machine.start().run(pause)
    saved = machine.device.snapshot()
    first = said(machine.run()), machine.device.hash()
    machine.device.restore(saved)
    assert (said(machine.run()), machine.device.hash()) == first
