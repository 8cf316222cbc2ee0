"""Devices whose dma makes long transfers, which repeat the same beats."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from tests.emu.dma_devices import AT
from tests.emu.toys import EXTERNAL, Step, describe, make, toy

LOCAL, SIZE = 0x1000, 0x2000
REGIONS = (LOCAL, LOCAL + SIZE, EXTERNAL, EXTERNAL + SIZE)


def periodic_devices(seed: int, engines: Sequence[str] = ENGINES) -> list[Device]:
    """Devices of each engine with the same long transfers and other accesses.

    The transfers use no on-chip memory.
    """
    made = []
    for engine in engines:
        pick = random.Random(seed)
        script: list[Step] = []
        for number in range(3):
            script += [("copy", AT + 24 * number), ("work", pick.choice([1, 50, 400]))]
            place = pick.choice(REGIONS) + 4 * pick.randrange(500)
            script.append(pick.choice([("load", place, 4), ("store", place, 4, 77), ("await", 0)]))
        device = make(
            toy(0, [*script, ("await", 0), ("exit", 3)], divider=pick.choice([1, 1, 3])),
            engine=engine,
            dma__divider=pick.choice([1, 1, 2, 3]),
            dma__buffer=pick.choice([1, 3, 20, 64]),
            dma__width=pick.choice([4, 5, 16, 32, 64]),
            mem__external_latency=pick.choice([3, 20]),
            mem__external_width=pick.choice([16, 32]),
        )
        contents = np.random.default_rng(seed)
        for base in REGIONS:
            device.memory.poke(base, contents.integers(0, 256, SIZE, np.uint8).tobytes())
        for number in range(3):
            dst, src = (pick.choice(REGIONS) + pick.choice([0, 4, 33]) for _ in range(2))
            rows = pick.choice([1, 1, 2, 3])
            size = pick.randrange(100, 8000 // rows)
            stride = pick.choice([size, size + 7])
            words = describe(dst, src, size, rows, stride, pick.choice([size, stride]))
            device.memory.poke(AT + 24 * number, words)
        made.append(device)
    return made
