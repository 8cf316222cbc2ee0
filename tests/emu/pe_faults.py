"""The cases of faults of PE rows (`CASES`), which other modules fill; functions that they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from macaw.emu.faults import Fault
from tests.emu.pe_builder import Steps, Unit

LAYER = (
    "ld activations base=0",
    "ld weights",
    "mac base=0 acc=0",
    "spu nonsf src=0 dst=0",
    "st base=0",
)
BASE = 0x1000_0000
SEQ = BASE + 0x2000  # where the first sequence lies
WORDS = SEQ + 16  # its instructions
SECOND = BASE + 20  # the packet after a config: 8 + 12 bytes
EIGHT = np.ones((8, 1), int)


def fault_of(unit: Unit) -> Fault:
    """The fault that ends the run."""
    stop = unit.machine().device.run()
    assert stop.fault is not None, stop
    assert stop.reason == "fault"
    assert stop.fault.core == "pe[0]"
    assert str(stop.fault) == stop.message
    return stop.fault


def layer(
    config: dict[str, object] | None = None, *lines: str, steps: Steps = (), **header: Any
) -> Unit:
    """A unit whose buffer 0 has the sequence LAYER, or other lines."""
    unit = Unit(dict(config or {}))
    unit.config_packet(0, *(lines or LAYER), steps=steps, **header)
    return unit


# Each case: what the unit holds, the fault's kind, its address, a part of its message.
Case = tuple[Callable[[], Unit], str, int, str]
CASES: dict[str, Case] = {}


def case(kind: str, address: int, text: str) -> Callable[[Callable[[], Unit]], Callable[[], Unit]]:
    def keep(make: Callable[[], Unit]) -> Callable[[], Unit]:
        CASES[make.__name__] = (make, kind, address, text)
        return make

    return keep
