"""Runs a device while accountants charge every cycle of every core to a cause.

The run has the same state and cycles as without accountants, but it is slower: cores with listeners
act one cycle or instruction at a time.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib import import_module
from importlib.util import find_spec

from macaw.emu.accountant import Accountant
from macaw.emu.core import Core
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.isa import registry


def accountant(core: Core) -> Accountant:
    """Return a new accountant of a core.

    Its class is in the module `accountant` of the core's folder. For a folder without this module,
    the class is `Accountant`.
    """
    if core.table.name in registry.names():
        name = f"macaw.emu.{registry.module(core.table.name)}.accountant"
        if find_spec(name) is not None:
            made: Accountant = import_module(name).make(core)
            return made
    return Accountant(core)


def run(device: Device, max_cycles: int | None = None) -> tuple[Stop, dict[str, Accountant]]:
    """Run a loaded device to its end. Return the stop, and the accountants by core name.

    The run has at most `max_cycles` cycles. The device must not have run before. The charges of a
    core add up to the cycles of the run, times the units of the core. The device keeps its
    listeners, so it must not be used for another run.
    """
    accountants = {core.name: accountant(core) for core in device.order}

    def act(core: Core | None) -> None:
        if core is not None:
            accountants[core.name].acted()

    device.on_act = act
    stop = device.run(max_cycles=max_cycles)
    device.on_act = None
    for one in accountants.values():
        one.close(device.cycle)
    return stop, accountants


def run_without(
    device: Device, addresses: Mapping[str, Collection[int]], max_cycles: int | None
) -> Stop:
    """Run a loaded device as if some instructions took no cycles. Return the stop.

    The shorter time of such a run shows what these instructions cost. `addresses` has their
    addresses by core name. The module `omission` in the core's folder leaves their cycles out; only
    cores with such a module may be named. The run has at most `max_cycles` cycles. The device must
    not have run before.
    """
    for name, of_core in addresses.items():
        core = device.cores[name]
        module = import_module(f"macaw.emu.{registry.module(core.table.name)}.omission")
        module.omit(core, of_core)
    return device.run(max_cycles=max_cycles)
