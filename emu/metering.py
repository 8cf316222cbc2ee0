"""Runs a device while meters count the activities of all cores.

The run has the same state and cycles as without meters, but it is slower: cores with listeners act
one cycle or instruction at a time.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from importlib.util import find_spec

from macaw.emu.breaks import Break, Breakable
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.meter import Meter
from macaw.emu.metered_memory import MeteredMemory
from macaw.isa import registry


def meter(core: Core, memory: MeteredMemory) -> Meter:
    """Return a new meter of a core.

    Its class is in the module `meter` of the core's folder. For a folder without this module, the
    class is `Meter`.
    """
    if core.table.name in registry.names():
        name = f"macaw.emu.{registry.module(core.table.name)}.meter"
        if find_spec(name) is not None:
            made: Meter = import_module(name).make(core, memory)
            return made
    return Meter(core, memory)


def run(
    device: Device, max_cycles: int | None = None
) -> tuple[Stop, dict[str, Meter], MeteredMemory]:
    """Run a loaded device to its end. Return the stop, the meters by core name, and their memory.

    The run has at most `max_cycles` cycles. The device must not have run before. The device keeps
    its listeners, so it must not be used for another run. In a compiled network, each count has the
    number of its layer.
    """
    memory = MeteredMemory(device)
    meters = {core.name: meter(core, memory) for core in device.order}
    entries = {} if device.program is None else device.program.layer_entries
    control = device.order[0]
    if entries and isinstance(control, Breakable):
        control.set_breaks(
            {at: Break(partial(_begin, meters, number)) for at, number in entries.items()}
        )

    def act(core: Core | None) -> None:
        if core is not None:
            meters[core.name].acted()

    device.on_act = act
    stop = device.run(max_cycles=max_cycles)
    device.on_act = None
    device.sync()
    for one in meters.values():
        one.close()
    return stop, meters, memory


def _begin(meters: dict[str, Meter], number: int) -> bool:
    """Record in all meters that layer `number` of a network starts. Return False.

    This is the test of a break at the first instruction of the layer. Because the test is false,
    the break does not stop the core. Where the last layer ends, there is one more break, whose
    number is that of the last layer + 1.
    """
    for one in meters.values():
        one.acted()
        one.layer = number
    return False
