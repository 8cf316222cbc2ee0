"""Translated blocks against the reference engine: the same state at every stop."""

from __future__ import annotations

import random

import pytest

import emu.cp
import emu.vector
from emu.engines import ENGINES
from emu.scalar import semantics, translation
from isa.memory_map import EXTERNAL
from tests.emu import cp_machine, vc_machine
from tests.emu.random_loops import random_loops
from tests.emu.toys import UNIT, make

MODULES = {"cp": emu.cp, "vc": emu.vector}


def device_of(core, engine, text, code, data=(), **changes):
    costs = (cp_machine if core == "cp" else vc_machine).COSTS
    settings = {name.replace(".", "__"): value for name, value in costs.items()} | changes
    device = make(MODULES[core].build, engine=engine, **settings)
    device.memory.poke(text, code)
    for address, content in data:
        device.memory.poke(address, content)
    device.cores[core].start(text, 0)
    return device


def said(stop):
    return (stop.reason, stop.cycle, str(stop), stop.exit_code, stop.address)


def followed(devices, chance, spans):
    """Run all side by side, stop after stop; one goes the whole way by itself."""
    reasons = []
    while True:
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert len({said(stop) for stop in stops}) == 1
        assert len({device.hash() for device in devices}) == 1
        assert devices[0].counters() == devices[1].counters()
        reasons.append(stops[0].reason)
        if stops[0].reason in ("exit", "fault"):
            return reasons
        if len(reasons) > 400:
            return reasons


def made(core, seed):
    """Both engines with a random program, and the chance that made it."""
    chance = random.Random(seed)
    text = cp_machine.TEXT if core == "cp" else EXTERNAL + 0x400
    bases = (0x40000, text + 0x1800, UNIT, EXTERNAL + 0x8000)
    base = chance.choice(bases) if core == "cp" else chance.choice((*bases[1:], EXTERNAL + 0x8000))
    program = random_loops(chance, text, base, has_vectors=core == "vc")
    assert len(program.text) < 0x1800
    changes = {f"{core}__divider": chance.choice((1, 1, 1, 3))}
    changes["mem__external_width"] = chance.choice((32, 32, 16, 8, 4))
    if chance.random() < 0.3:
        changes[f"{core}__alu_cycles"] = chance.randint(1, 3)
        changes[f"{core}__branch_taken_cycles"] = chance.randint(1, 4)
    data = [(base, program.data)]
    return [device_of(core, engine, text, program.text, data, **changes) for engine in ENGINES], chance


@pytest.mark.parametrize("core", MODULES)
@pytest.mark.parametrize("seed", range(16))
def test_random_loops_stop_in_the_same_state(core, seed):
    devices, chance = made(core, seed)
    spans = chance.choice(((1, 5, 77), (900, 333, 4097), (50, 60, 5000)))
    followed(devices, chance, spans)


def test_most_of_those_programs_are_translated_and_some_fault():
    seen, translated = set(), 0
    for core in MODULES:
        for seed in range(16):
            devices, chance = made(core, seed)
            seen.update(followed(devices, chance, (20_000,)))
            fast, reference = (device.cores[core].code for device in devices)
            translated += bool(fast.blocks or fast._stale_blocks)
            assert not reference.blocks
    assert seen >= {"fault", "breakpoint"}
    assert translated >= 20
