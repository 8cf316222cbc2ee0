"""Devices of cp or vc with the same random program, one for each engine."""

from __future__ import annotations

import random
from typing import Any

import macaw.emu.cp
import macaw.emu.vector
from macaw.emu.engines import ENGINES
from macaw.emu.system import Startable
from macaw.isa.memory_map import EXTERNAL
from tests.emu import cp_machine, vc_machine
from tests.emu.random_loops import random_loops
from tests.emu.toys import UNIT, make

CORE_MODULES = {"cp": macaw.emu.cp, "vc": macaw.emu.vector}


def device_with_code(core, engine, text, code, data=(), **changes):
    costs = (cp_machine if core == "cp" else vc_machine).COSTS
    settings: dict[str, Any] = {
        name.replace(".", "__"): value for name, value in costs.items()
    } | changes
    device = make(CORE_MODULES[core].build, engine=engine, **settings)
    device.memory.poke(text, code)
    for address, content in data:
        device.memory.poke(address, content)
    processor = device.cores[core]
    assert isinstance(processor, Startable)
    processor.start(text, 0)
    return device


def stop_summary(stop):
    return (stop.reason, stop.cycle, str(stop), stop.exit_code, stop.address)


def random_devices(core, seed):
    """A device of each engine with a random program, and the random generator that made it."""
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
    return [
        device_with_code(core, engine, text, program.text, data, **changes) for engine in ENGINES
    ], chance
