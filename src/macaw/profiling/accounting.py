"""Makes the accounts of a run: where the cycles of each core went, and on which lines.

The accounts come from a run of its own, in which `macaw.emu.accounting` charges every cycle.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from macaw.emu import accounting
from macaw.emu.accountant import Accountant, Charge
from macaw.emu.copies import original
from macaw.emu.device import Device
from macaw.errors import InputError
from macaw.isa.causes import CAUSES
from macaw.profiling.account import Account, CauseCycles, LineCycles
from macaw.profiling.charge_log import ChargeLog, period_of
from macaw.profiling.recording import Job
from macaw.profiling.replay import statement

_Line = tuple[str, int]  # file and number
NOWHERE: _Line = ("", 0)


@dataclass
class _Leaf:
    """What is charged to a leaf of the tree of causes."""

    cycles: int = 0
    whom: Counter[str] = field(default_factory=Counter)
    lines: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class ChargedRun:
    """A run whose cycles were charged: the accounts of all cores, and the times of the charges.

    `logs` and `lines` are by core; `lines` has the file and line of the address of each charge.
    """

    accounts: tuple[Account, ...]  # in the order of the cores' numbers
    logs: Mapping[str, ChargeLog]
    lines: Mapping[str, Mapping[int, _Line]]


def account_job(job: Job) -> tuple[Account, ...]:
    """Run a job and return the accounts of all cores, in the order of their numbers.

    Raises `InputError` if the program does not end by itself.
    """
    return charge_job(job, 0).accounts


def charge_job(job: Job, cycles: int) -> ChargedRun:
    """Run a job and return its accounts, with a log of all charges.

    `cycles` is the expected length of the run: it sets the resolution of the log. Raises
    `InputError` if the program does not end by itself.
    """
    device = job.machine()
    logs = {core.name: ChargeLog(period_of(cycles)) for core in device.order} if cycles else {}
    watches = {name: log.add for name, log in logs.items()}
    stop, accountants = accounting.run(device, job.max_cycles, watches)
    if stop.reason != "exit":
        raise InputError(f"the program does not end by itself: {stop}", "`macaw run` shows where")
    for log in logs.values():
        log.close(device.cycle)
    places = {name: _Places(device, one) for name, one in accountants.items()}
    accounts = tuple(
        _account(device, accountants[core.name], places[core.name]) for core in device.order
    )
    return ChargedRun(accounts, logs, {name: one.lines for name, one in places.items()})


def _account(device: Device, accountant: Accountant, places: _Places) -> Account:
    """Return the account that an accountant has kept."""
    core = accountant.core
    leaves: dict[str, _Leaf] = {}
    lines: dict[_Line, dict[Charge, int]] = {}
    for charge, cycles in accountant.charges.items():
        leaf = leaves.setdefault(charge.cause, _Leaf())
        place = places.line(charge.address)
        leaf.cycles += cycles
        leaf.whom[places.whom(charge)] += cycles
        leaf.lines[_line_text(place)] += cycles
        line = lines.setdefault(place, {})
        line[charge] = line.get(charge, 0) + cycles
    return Account(
        core.name,
        core.table.name,
        device.cycle,
        accountant.units,
        _tree("", leaves),
        tuple(_line_cycles(line, lines[line], places.whom) for line in sorted(lines)),
    )


def _line_cycles(
    line: _Line, charges: Mapping[Charge, int], whom_of: Callable[[Charge], str]
) -> LineCycles:
    causes: dict[str, int] = {}
    whom: dict[str, int] = {}
    for charge, cycles in charges.items():
        causes[charge.cause] = causes.get(charge.cause, 0) + cycles
        if name := whom_of(charge):
            whom[name] = whom.get(name, 0) + cycles
    place = f"{Path(line[0]).name}:{line[1]}" if line[1] else line[0]
    text = statement(*line) if line[1] else ""
    return LineCycles(place, text, sum(causes.values()), _sorted(causes), _sorted(whom))


def _tree(parent: str, leaves: Mapping[str, _Leaf]) -> tuple[CauseCycles, ...]:
    """Return the causes below `parent` that have cycles, those with most cycles first."""
    found = []
    for cause in CAUSES:
        if cause.parent != parent:
            continue
        below = _tree(cause.name, leaves)
        leaf = leaves.get(cause.name, _Leaf())
        cycles = leaf.cycles + sum(item.cycles for item in below)
        if cycles:
            names = _sorted(leaf.whom), _sorted(leaf.lines)
            found.append(CauseCycles(cause.name, cycles, *names, below))
    return tuple(sorted(found, key=lambda item: -item.cycles))


def _sorted(cycles: Mapping[str, int]) -> dict[str, int]:
    """Return the same items without that of the empty name, those with most cycles first."""
    named = [item for item in cycles.items() if item[0]]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


def _line_text(line: _Line) -> str:
    """Return the place and the statement of a line; without a line, the address or nothing."""
    file, number = line
    place = f"{Path(file).name}:{number}" if number else file
    text = statement(file, number) if number else ""
    return f"{place}: {text}" if text else place


class _Places:
    """Finds the lines of addresses of one core."""

    def __init__(self, device: Device, accountant: Accountant) -> None:
        self.device, self.core = device, accountant.core
        self.lines: dict[int, _Line] = {}

    def line(self, address: int | None) -> _Line:
        """Return the file and line of an address; without a line, the address as text and 0."""
        if address is None:
            return NOWHERE
        if address not in self.lines:
            program = self.device.program
            at = address if program is None else original(program, self.core, address)
            place = self.device.place(at)
            self.lines[address] = (f"{at:#010x}", 0) if place is None else place[:2]
        return self.lines[address]

    def whom(self, charge: Charge) -> str:
        """Return who is waited for: a name, or the line of an instruction with its text."""
        if charge.producer is None:
            return charge.whom
        return _line_text(self.line(charge.producer))
