"""Makes the accounts of a run: where the cycles of each core went, and on which lines.

The accounts come from a separate run, in which `macaw.emu.accounting` charges every cycle.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from macaw.emu import accounting
from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge, CoreLog
from macaw.emu.critical_path import Step, critical_path
from macaw.emu.moves import Move
from macaw.isa.causes import CAUSES
from macaw.profiling.account import Account, CauseCycles, LineCycles
from macaw.profiling.recording import Job, ProfileError, endless
from macaw.profiling.source_lines import SourceLine, SourceLines


@dataclass
class _Leaf:
    """The sums of all charges to one cause, which is a leaf of the tree of causes.

    `whom` has cycles by what the core waited for, `lines` by source line.
    """

    cycles: int = 0
    whom: Counter[str] = field(default_factory=Counter)
    lines: Counter[SourceLine] = field(default_factory=Counter)


@dataclass(frozen=True)
class ChargedRun:
    """A run whose cycles were charged: the accounts of all cores, and the times of the charges.

    A charge is a cause with the instruction that is responsible. The mappings are by core.
    `charges` has the cycles of each charge, times the units of the core. `lines` has the source
    line of each instruction's address. `begun` has the number of instructions that the core has
    started. The mappings from `least` to `readers` have the attributes with these names that the
    core's accountant collects (`macaw.emu.accountant`). `cycles_without` computes how long the run
    would be if the instructions at some addresses, by core, took no cycles; None if that run does
    not end by itself.
    """

    cycles: int
    accounts: tuple[Account, ...]  # in the order of the cores' numbers
    logs: Mapping[str, CoreLog]
    charges: Mapping[str, Mapping[Charge, int]]
    lines: Mapping[str, Mapping[int | None, SourceLine]]
    least: Mapping[str, Mapping[str, int]]
    hidden: Mapping[str, Mapping[Charge, int]]
    needed: Mapping[str, Collection[int]]
    steps: Mapping[str, Mapping[int, Mapping[tuple[int, int, int], Sequence[int]]]]
    mendable: Mapping[str, Collection[str]]
    undivided: Mapping[str, float]
    along: Mapping[str, Mapping[Charge, Mapping[Charge, int]]]
    errands: Mapping[str, Mapping[int, Mapping[int, float]]]
    moves: Mapping[str, Sequence[Move]]
    readers: Mapping[str, Collection[str]]
    begun: Mapping[str, int]
    cycles_without: Callable[[Mapping[str, Collection[int]]], int | None]


def charge_job(job: Job) -> ChargedRun:
    """Run a job and return its accounts, with the logs of all charges.

    Raises `ProfileError` if the program does not end by itself.
    """
    device = job.machine()
    stop, accountants = accounting.run(device, job.max_cycles)
    if stop.reason != "exit":
        raise ProfileError(*endless(stop))
    path = critical_path(
        {core.number: accountants[core.name].log for core in device.order}, device.cycle
    )
    places = {core.name: _Places(device, core) for core in device.order}
    accounts = tuple(
        _account(accountants[core.name], places[core.name], _steps_of(path, core.number))
        for core in device.order
    )
    return ChargedRun(
        device.cycle,
        accounts,
        {name: one.log for name, one in accountants.items()},
        {name: one.charges for name, one in accountants.items()},
        {name: one.found for name, one in places.items()},
        {name: one.least for name, one in accountants.items()},
        {name: one.hidden for name, one in accountants.items()},
        {name: one.needed for name, one in accountants.items()},
        {name: one.steps for name, one in accountants.items()},
        {name: one.mendable for name, one in accountants.items()},
        {name: one.undivided for name, one in accountants.items()},
        {name: one.along for name, one in accountants.items()},
        {name: one.errands for name, one in accountants.items()},
        {name: one.moves for name, one in accountants.items()},
        {name: one.readers for name, one in accountants.items()},
        {name: core.start_count for name, core in device.cores.items()},
        partial(_cycles_without, job, 2 * device.cycle),
    )


def _cycles_without(
    job: Job, max_cycles: int, addresses: Mapping[str, Collection[int]]
) -> int | None:
    # A program that measures times may fault without these instructions, or run for ever.
    device = job.machine()
    stop = accounting.run_without(device, addresses, max_cycles)
    return device.cycle if stop.reason == "exit" else None


def _steps_of(path: Mapping[Step, int], core: int) -> dict[Charge, int]:
    """Return the cycles on the run's critical path for each charge of core number `core`.

    `path` has these cycles for the charges of all cores, by (core number, charge).
    """
    return {
        charge or Charge("between"): cycles
        for (number, charge), cycles in path.items()
        if number == core
    }


@dataclass
class _LineSums:
    """The sums of all charges of one core to one line of the source.

    `causes` has the cycles by cause, times the units of the core; `whom` has those of waits by what
    the core waited for. `run` is the number of device cycles of the line on the critical path.
    """

    run: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    whom: Counter[str] = field(default_factory=Counter)


def _account(accountant: Accountant, places: _Places, path: Mapping[Charge, int]) -> Account:
    """Return the account of a core: the sums of the charges that `accountant` has collected.

    `places` finds the lines of the core's instructions. `path` has the core's cycles on the
    critical path.
    """
    core = accountant.core
    leaves: defaultdict[str, _Leaf] = defaultdict(_Leaf)
    lines: defaultdict[SourceLine, _LineSums] = defaultdict(_LineSums)
    for charge, cycles in accountant.charges.items():
        line, whom = places.line(charge.address), places.whom(charge)
        leaf, sums = leaves[charge.cause], lines[line]
        leaf.cycles += cycles
        leaf.whom[whom] += cycles
        leaf.lines[line] += cycles
        sums.causes[charge.cause] += cycles
        sums.whom[whom] += cycles
    for charge, cycles in path.items():
        lines[places.line(charge.address)].run += cycles
    return Account(
        core.name,
        core.table.name,
        core.device.cycle,
        accountant.units,
        _tree("", leaves),
        tuple(_line_cycles(line, lines[line]) for line in sorted(lines)),
    )


def _line_cycles(line: SourceLine, sums: _LineSums) -> LineCycles:
    return LineCycles(
        line.place,
        line.text,
        sums.causes.total(),
        line.file,
        line.number,
        sums.run,
        _sorted(sums.causes),
        _sorted(sums.whom),
    )


def _tree(parent: str, leaves: Mapping[str, _Leaf]) -> tuple[CauseCycles, ...]:
    """Return the children of the cause `parent` in the tree of causes, the greatest first.

    Each child includes the tree below it; children without cycles are left out. If `parent` is
    empty, the result has the roots of the tree. `leaves` has the sums of the charges by cause.
    """
    found = []
    for cause in CAUSES:
        if cause.parent != parent:
            continue
        below = _tree(cause.name, leaves)
        leaf = leaves.get(cause.name, _Leaf())
        cycles = leaf.cycles + sum(item.cycles for item in below)
        if cycles:
            names = _sorted(leaf.whom), _sorted_lines(leaf.lines)
            found.append(CauseCycles(cause.name, cycles, *names, below))
    return tuple(sorted(found, key=lambda item: -item.cycles))


def _sorted(cycles: Mapping[str, int]) -> dict[str, int]:
    """Return `cycles` by name, the greatest first, without the name "" (no wait)."""
    named = [item for item in cycles.items() if item[0]]
    return dict(sorted(named, key=lambda item: (-item[1], item[0])))


def _sorted_lines(cycles: Mapping[SourceLine, int]) -> dict[str, int]:
    """Return `cycles` by the text for each line, such as "a.s:4: exe", the greatest first.

    Cycles that belong to no instruction (`NOWHERE`) are left out.
    """
    found: Counter[str] = Counter()
    for line in sorted(cycles):
        if line.sentence:
            found[line.sentence] += cycles[line]
    return dict(found.most_common())


class _Places(SourceLines):
    """Finds the source lines of a core's instructions, and what the core waited for in a charge."""

    def whom(self, charge: Charge) -> str:
        """Return what the core waited for during a charge: a core, a unit, or an instruction.

        An instruction is returned as its source position and text. The result is empty if the core
        did not wait.
        """
        return charge.whom if charge.producer is None else self.line(charge.producer).sentence
