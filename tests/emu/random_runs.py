"""Random programs of each kind of core, on a device of each engine and on one without listeners.

All devices have loaded the program.
"""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import numpy as np

from macaw.emu.device import Device
from tests.emu import dma_devices, scalar_devices
from tests.emu.fim import engine_pairs
from tests.emu.fim import random_programs as fim_programs
from tests.emu.nnp.random_programs import program as nnp_program
from tests.emu.pe_engine_pairs import machines_of_engines
from tests.emu.pe_random_lists import random_packet_list

LIMIT = 60_000  # cycles


class RandomRun(NamedTuple):
    """Devices with the same program: fast engine, reference engine, and one without listeners."""

    devices: list[Device]
    plain: Device

    def check_unchanged(self) -> None:
        """Run the device without listeners; it must have the counters of the other devices."""
        with np.errstate(all="ignore"):
            self.plain.run(LIMIT)
        self.plain.sync()
        for device in self.devices:
            assert device.counters() == self.plain.counters()


def scalar_run(core: str, seed: int) -> RandomRun:
    devices, _ = scalar_devices.random_devices(core, seed)
    return RandomRun(list(devices), scalar_devices.random_devices(core, seed)[0][0])


def dma_run(seed: int) -> RandomRun:
    return RandomRun(list(dma_devices.random_devices(seed)), dma_devices.random_devices(seed)[0])


def row_run(seed: int) -> RandomRun:
    pair = machines_of_engines(random_packet_list(seed).unit)
    plain = machines_of_engines(random_packet_list(seed).unit)[0].device
    return RandomRun([machine.device for machine in pair], plain)


def nnp_run(seed: int) -> RandomRun:
    devices = [
        nnp_program(random.Random(seed)).device(engine) for engine in ("fast", "reference", "fast")
    ]
    return RandomRun(devices[:2], devices[2])


def island_run(seed: int) -> RandomRun:
    chosen = engine_pairs.DEVICES[seed % len(engine_pairs.DEVICES)]
    lines = fim_programs.program(random.Random(seed))

    def machines() -> Any:
        pair = engine_pairs.machines_of_engines(lines, chosen, seed if seed % 3 == 0 else None)
        for machine in pair:
            machine.start()
        return [machine.device for machine in pair]

    return RandomRun(machines(), machines()[0])
