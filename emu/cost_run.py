"""Measures what each instruction of a program cost each core, by two runs of the program.

The first run has accountants, the second one has meters. Both runs have the same cycles and
results, so the costs of both can be added to one record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from macaw.emu import accounting, metering
from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge
from macaw.emu.critical_path import critical_path
from macaw.emu.device import Device
from macaw.emu.faults import Stop
from macaw.emu.meter import Meter
from macaw.isa.lazy_dataclass import dataclass

NOTHING = Charge("between")  # the charge of cycles of the run in which no core did anything


@dataclass
class InstructionCost:
    """The cycles, MACs and bytes that one instruction cost one core.

    `run` has the device cycles in which the instruction was on the critical path of the run, by
    charge. `charges` has all its cycles on this core, summed over the units of the core (such as
    the PEs of a row), by charge.
    """

    run: dict[Charge, int] = field(default_factory=dict)
    charges: dict[Charge, int] = field(default_factory=dict)
    macs: int = 0
    bytes: dict[str, int] = field(default_factory=dict)  # moved, by memory


@dataclass(frozen=True)
class RunCosts:
    """The costs of a run by core name and instruction address.

    Costs that belong to no instruction have the address None. `device` is the device after the run,
    `units` has the number of units of each core.

    Each item of `costs` has cycles in `run` (the critical path) and in `charges`. The cycles in
    `run` of all items add up to the cycles of the run. The cycles in `charges` of all items of a
    core add up to the cycles of the run, times the units of the core.
    """

    device: Device
    units: Mapping[str, int]
    costs: Mapping[str, Mapping[int | None, InstructionCost]]


def run_with_costs(make: Callable[[], Device], max_cycles: int | None) -> tuple[Stop, RunCosts]:
    """Run a program twice and measure its costs. Return the stop of the first run, and the costs.

    Each call of `make` returns a new device, which has loaded the program and has not run. A run
    has at most `max_cycles` cycles. If the program does not exit, the costs have cycles, but no
    MACs and no bytes.
    """
    device = make()
    stop, accountants = accounting.run(device, max_cycles)
    costs: dict[str, dict[int | None, InstructionCost]] = {name: {} for name in accountants}
    names = {core.number: core.name for core in device.order}
    logs = {core.number: accountants[core.name].log for core in device.order}
    for (number, step), cycles in critical_path(logs, device.cycle).items():
        charge = step or NOTHING
        _cost(costs[names[number]], charge.address).run[charge] = cycles
    for name, one in accountants.items():
        _add_charges(costs[name], one)
    if stop.reason == "exit":
        meters = metering.run(make(), max_cycles)[1]
        for name, meter in meters.items():
            _add_counts(costs[name], meter)
    return stop, RunCosts(device, {name: one.units for name, one in accountants.items()}, costs)


def _cost(costs: dict[int | None, InstructionCost], address: int | None) -> InstructionCost:
    return costs.setdefault(address, InstructionCost())


def _add_charges(costs: dict[int | None, InstructionCost], accountant: Accountant) -> None:
    for charge, cycles in accountant.charges.items():
        _cost(costs, charge.address).charges[charge] = cycles


def _add_counts(costs: dict[int | None, InstructionCost], meter: Meter) -> None:
    for key, count in meter.counts.items():
        if key.activity in meter.products:
            _cost(costs, key.address).macs += count
        if key.memory:
            moved = _cost(costs, key.address).bytes
            moved[key.memory] = moved.get(key.memory, 0) + count
