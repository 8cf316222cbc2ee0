"""Finds causes that make a run longer, each with advice and a price: the cycles it would save.

The causes come from the charges of a run (`macaw.profiling.accounting`): each cycle of a core is
charged to a cause and an instruction. The advice comes from `macaw.isa.advice`. The price of a
finding comes from a simulation of the same run (`macaw.profiling.counterfactual`). In this
simulation the cycles of the cause vanish, or the waits do not take place. A cause that does not
make the run longer costs nothing, so it is no finding.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from macaw.asm.generated_sources import generated_file
from macaw.emu.charges import Charge
from macaw.isa.advice import (
    BY_CAUSE,
    FIRST,
    OPENING,
    RUN,
    SHORT,
    UNEVEN,
    WITH_INSTRUCTION,
)
from macaw.profiling.accounting import ChargedRun
from macaw.profiling.counterfactual import CoreWork, RunGraph
from macaw.profiling.model import Finding
from macaw.profiling.source_lines import NOWHERE, SourceLine

LEAST_SAVED = 0.03  # of the run's cycles; a cause that saves less is no finding
LEAST_CYCLES = 10  # a cause that saves fewer cycles is no finding, either
MOST_PRICED = 64  # the most places that are priced, most cycles first: each takes a simulation
MOST_DISTANCE = 12  # lines; lines of one cause that are not farther apart are one place


@dataclass
class _Evidence:
    """The charges to one cause in one line of the source, over all cores of a row.

    `cycles_of` has the device cycles by core. `shares` has the share of each charge that can
    vanish, `along` the shares of other charges that then vanish too. `lengths` has the cycles of
    each period that a core spent on a charge. `waits` are the waits with this cause, as pairs
    (core, index of the wait), and `whom` has cycles by what the cores waited for.
    """

    line: SourceLine
    cycles: float = 0.0  # device cycles, times units of the cores
    # by core: device cycles, as a mean over the core's units
    cycles_of: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    # by core: for each charge the share of its cycles that can vanish
    shares: dict[str, dict[Charge, float]] = field(default_factory=lambda: defaultdict(dict))
    # by charge of a core: the cycles of each period that the core spent on it
    lengths: dict[str, dict[Charge, list[int]]] = field(default_factory=lambda: defaultdict(dict))
    # by charge of a core: the shares that vanish along with it, by core
    along: dict[str, dict[Charge, dict[str, dict[Charge, float]]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    waits: list[tuple[str, int]] = field(default_factory=list)  # cores and indices of their waits
    # cycles by name of the core, unit or instruction that was waited for
    whom: dict[str, float] = field(default_factory=lambda: defaultdict(float))


def find(run: ChargedRun) -> tuple[Finding, ...]:
    """Return the findings of a run, the one that saves most cycles first.

    Findings that save the same are sorted by the cycles of their causes, most first, then by line.
    """
    graph = RunGraph(run.logs, run.cycles, run.moves, run.readers)
    least = max(LEAST_SAVED * graph.cycles, LEAST_CYCLES)
    found: list[tuple[SourceLine, Finding]] = []
    evidence = _collect(run, graph)
    places = [(key, place) for key, lines in evidence.items() for place in _places(lines)]
    places.sort(key=lambda item: -_device_cycles(item[1]))
    for (row, cause), place in places[:MOST_PRICED]:
        saved = (
            graph.cycles - _end(run, graph, cause, place) if _device_cycles(place) >= least else 0.0
        )
        if saved >= least and BY_CAUSE[cause].stays == RUN:
            shorter = run.cycles_without(_addresses(place))
            saved = saved if shorter is None else run.cycles - shorter
        if saved >= least:
            found.append(_finding(row, cause, place, round(saved)))
    found += [item for item in _uneven_rows(run, graph) if item[1].saved >= least]
    found.sort(key=lambda item: (-item[1].saved, -item[1].cycles, item[0]))
    return tuple(finding for _, finding in found)


def _uneven_rows(run: ChargedRun, graph: RunGraph) -> Iterator[tuple[SourceLine, Finding]]:
    """Yield (line, finding) for each row of the timeline whose cores had unequal work.

    The line is the one with most cycles on the core with most work. The finding's price comes from
    a simulation in which no core has more than the mean work of the row's cores, idle ones
    included. But if some cores were idle, a core keeps at least that part of its work that could
    not be given to other cores.
    """
    rows: dict[str, dict[str, int]] = defaultdict(dict)  # by row and core: cycles of work
    for account in run.accounts:
        if "imbalance" in run.mendable[account.core]:
            work_of_core = graph.work.get(account.core)
            busy = 0 if work_of_core is None else work_of_core.busy_cycles
            rows[account.row][account.core] = busy
    for row, works in rows.items():
        mean = sum(works.values()) / len(works)
        is_idle = min(works.values()) == 0
        least = {
            core: max(mean, work * run.undivided[core] if is_idle else 0)
            for core, work in works.items()
        }
        shares = {
            core: dict.fromkeys(run.charges[core], 1 - least[core] / work)
            for core, work in works.items()
            if work > least[core]
        }
        if not shares:
            continue
        most = max(works, key=works.__getitem__)
        lines: dict[SourceLine, float] = defaultdict(float)
        for charge, cycles in run.charges[most].items():
            lines[run.lines[most].get(charge.address, NOWHERE)] += cycles
        lines.pop(NOWHERE, None)
        ordered = sorted(lines, key=lambda line: (-lines[line], line))
        where, *others = [line.sentence for line in ordered] or [most]
        saved = round(graph.cycles - graph.end(shares))
        text = BY_CAUSE["imbalance"].text
        excess = round(works[most] - least[most])
        finding = Finding(row, "imbalance", where, saved, excess, text, (most,), tuple(others))
        yield ordered[0] if ordered else NOWHERE, finding


def _device_cycles(place: Iterable[_Evidence]) -> float:
    """Return the device cycles of a cause at a place, added up over the cores.

    The cycles of a core with several units are the mean over its units.
    """
    return sum(sum(item.cycles_of.values()) for item in place)


def _addresses(place: Iterable[_Evidence]) -> dict[str, set[int]]:
    """Return, by core, the addresses of the instructions to which a place's cycles are charged."""
    found: dict[str, set[int]] = defaultdict(set)
    for item in place:
        for core, shares in item.shares.items():
            found[core] |= {charge.address for charge in shares if charge.address is not None}
    return found


def _end(run: ChargedRun, graph: RunGraph, cause: str, place: Iterable[_Evidence]) -> float:
    """Return the cycle in which the run would end without `cause` at a place of the source.

    The result is from a simulation (`RunGraph.end`), in which the cycles that were charged to the
    cause there vanish, or the waits with this cause do not take place.
    """
    shares: dict[str, dict[Charge, float]] = defaultdict(dict)
    along: dict[str, dict[Charge, dict[str, dict[Charge, float]]]] = defaultdict(dict)
    lengths: dict[str, dict[Charge, list[int]]] = defaultdict(dict)
    for item in place:
        for core, of_core in item.shares.items():
            _add(shares[core], of_core)
            along[core] |= item.along[core]
            lengths[core] |= item.lengths[core]
    gone: dict[str, dict[Charge, float]] = defaultdict(dict)
    for core, of_core in shares.items():
        vanishing = _vanishing(run, cause, core, lengths[core])
        for charge, part in of_core.items():
            share = vanishing[charge] * part
            _add(gone[core], {charge: share})
            for other, of_other in along[core][charge].items():
                _add(gone[other], {item: share * more for item, more in of_other.items()})
    return graph.end(gone, [wait for item in place for wait in item.waits])


def _vanishing(
    run: ChargedRun, cause: str, core: str, lengths: Mapping[Charge, Sequence[int]]
) -> dict[Charge, float]:
    """Return which share of each charge vanishes if the program follows the advice for a cause.

    `lengths` has, for each charge, the cycles of each period that the core spent on it. If the
    advice is to join several accesses to one, one access of each direction (onto the chip, from the
    chip) remains.
    """
    stays = BY_CAUSE[cause].stays
    if stays == UNEVEN:
        share = _share_of_order(run.steps[core], {charge.address for charge in lengths})
        return dict.fromkeys(lengths, share)
    if stays not in (FIRST, SHORT):
        return dict.fromkeys(lengths, 1.0)
    directions = {
        move.address: (move.is_inward, move.is_outward) for move in run.moves.get(core, ())
    }
    groups: dict[tuple[bool, bool] | None, list[Charge]] = defaultdict(list)
    for charge in lengths:
        groups[directions.get(charge.address or -1)].append(charge)
    shares: dict[Charge, float] = {}
    for charges in groups.values():
        periods = [length for charge in charges for length in lengths[charge]]
        share = 1 - 1 / max(len(periods), 1) if stays == FIRST else _share_of_others(periods)
        shares |= dict.fromkeys(charges, share)
    return shares


def _share_of_others(lengths: Sequence[int]) -> float:
    """Return the share of cycles that vanishes if several accesses become one, from 0 to 1.

    `lengths` has the cycles of each access. The one access takes as many cycles as the third
    quartile of `lengths`, plus the cycles by which longer accesses exceed this quartile: they are
    assumed to be longer because of their size, so joining does not save these cycles.
    """
    usual = sorted(lengths)[3 * (len(lengths) - 1) // 4] if lengths else 0
    return (sum(min(length, usual) for length in lengths) - usual) / max(sum(lengths), 1)


def _share_of_order(
    steps: Mapping[int, Mapping[tuple[int, int, int], Sequence[int]]],
    addresses: Container[int | None],
) -> float:
    """Return which share of the imbalance vanishes if matrix rows are sorted by their work.

    The imbalance is the time in which units of the array wait for the unit with most work. `steps`
    has the work of each unit by the address of an instruction, then by (packet list, place of the
    weights, cluster). Clusters whose weights have the same place work at the same time, and all of
    them take as long as the unit with most work. Sorting moves matrix rows between units, but only
    within a packet list. Instructions that are not in `addresses` are ignored.
    """
    clusters: dict[int, dict[int, dict[int, Sequence[int]]]] = {}
    for address, found in steps.items():
        if address in addresses:
            for (number, place, cluster), work in found.items():
                clusters.setdefault(number, {}).setdefault(place, {})[cluster] = work
    longest, least, mean = 0, 0, 0.0
    for places in clusters.values():
        rounds = [[work for works in by.values() for work in works] for by in places.values()]
        longest += sum(map(max, rounds))
        mean += sum(sum(works) / len(works) for works in rounds)
        ordered = sorted((work for works in rounds for work in works), reverse=True)
        for works in sorted(rounds, key=len, reverse=True):
            least += ordered[0]
            del ordered[: len(works)]
    return (longest - least) / (longest - mean) if longest > mean else 0.0


def _collect(run: ChargedRun, graph: RunGraph) -> Mapping[tuple[str, str], list[_Evidence]]:
    """Return the charges to each cause, by (row of the timeline, cause): an item for each line."""
    found: dict[tuple[str, str], dict[SourceLine, _Evidence]] = defaultdict(dict)
    for account in run.accounts:
        core, lines, charges = account.core, run.lines[account.core], run.charges[account.core]
        if core not in graph.work:
            continue
        work = graph.work[core]
        waits, lengths, openings = _waits_to_drop(graph, work), work.lengths(), work.openings()
        avoidable = _avoidable(work, charges, account.units, run.least[core])
        for charge, cycles in charges.items():
            line = lines.get(charge.address, NOWHERE)
            advice = BY_CAUSE.get(charge.cause)
            if advice is None or charge.cause not in run.mendable[core]:
                continue
            if generated_file(line.file) is not None:
                continue
            item = found[account.row, charge.cause].setdefault(line, _Evidence(line))
            item.cycles += cycles
            item.cycles_of[core] += cycles / account.units
            item.lengths[core][charge] = lengths.get(charge, [])
            producer = lines.get(charge.producer, NOWHERE)
            item.whom[charge.whom or producer.sentence] += cycles
            if charge in waits:
                item.waits += [(core, number) for number in waits[charge]]
                continue
            share = avoidable.get(charge.cause, 1.0)
            if advice.stays == OPENING:
                share = min(share, 1 - openings.get(charge, 0.0))
            share *= 1 - run.hidden[core].get(charge, 0) / cycles
            item.shares[core][charge] = share
            item.along[core][charge] = _along(run, graph, core, charge)
    return {key: list(lines.values()) for key, lines in found.items()}


def _avoidable(
    work: CoreWork, charges: Mapping[Charge, int], units: int, least: Mapping[str, int]
) -> dict[str, float]:
    """Return, for each cause in `least`, the share of its cycles that can vanish.

    `least` has, by cause, how many cycles the core would be busy if the cause did not exist. If the
    core was busy for more cycles in the run, only this difference can vanish: all other cycles of
    the cause overlap other work. `charges` has cycles times `units`, the core's number of units.
    """
    shares = {}
    for cause, cycles in least.items():
        charged = sum(count for charge, count in charges.items() if charge.cause == cause) / units
        excess = max(work.busy_cycles - cycles, 0)
        shares[cause] = min(excess / charged, 1.0) if charged else 1.0
    return shares


def _waits_to_drop(graph: RunGraph, work: CoreWork) -> dict[Charge, list[int]]:
    """Return, for each charge, the indices of those waits that a program could avoid.

    A wait for data always counts if it is known who used the data. Of the other waits, the first
    one of each instruction for each cause is left out: even if the work of two cores overlaps, the
    second core has to wait for the first piece of work of the first core.
    """
    numbers: dict[Charge, list[int]] = {}
    known: set[tuple[str, int | None]] = set()
    for number, wait in enumerate(work.waits):
        of_charge = numbers.setdefault(wait.charge, [])
        key = wait.charge.cause, wait.charge.address
        if key in known or graph.is_for_data(wait):
            of_charge.append(number)
        known.add(key)
    return numbers


def _along(
    run: ChargedRun, graph: RunGraph, core: str, charge: Charge
) -> dict[str, dict[Charge, float]]:
    """Return the shares of other charges that vanish together with `charge`, a charge of `core`.

    The result has these shares, from 0 to 1, by core and charge. For some causes, the work of the
    charge's instruction vanishes too, unless the program needs the instruction. If the cause is the
    latency of transfers, those cycles vanish in which other cores only served these transfers.
    """
    totals = run.charges[core]
    shares: dict[Charge, float] = {}
    if BY_CAUSE[charge.cause].more == WITH_INSTRUCTION and charge.address not in run.needed[core]:
        work = Charge("work", charge.address)
        if charge.address is not None and work in totals:
            shares[work] = min(totals[charge] / totals[work], 1.0)
    for other, cycles in run.along[core].get(charge, {}).items():
        if other in totals:
            shares[other] = min(cycles / totals[other], 1.0)
    found = {core: shares}
    for name, errands in run.errands.items():
        served = errands.get(charge.address or 0, {})
        if charge.cause == "latency" and core in graph.movers - {name}:
            found[name] = {
                item: served.get(item.address or 0, 0.0)
                for item in run.charges[name]
                if not item.is_wait
            }
    return found


def _add(shares: dict[Charge, float], more: Mapping[Charge, float]) -> None:
    """Add to `shares` the shares `more` of the same charges; a sum above 1 becomes 1.

    A share says which part of a charge's cycles vanishes.
    """
    for charge, share in more.items():
        shares[charge] = min(shares.get(charge, 0.0) + share, 1.0)


def _places(lines: Iterable[_Evidence]) -> Iterator[list[_Evidence]]:
    """Yield the places of a cause: groups of lines that are at most `MOST_DISTANCE` lines apart."""
    place: list[_Evidence] = []
    for item in sorted(lines, key=lambda item: item.line):
        if place and not _is_near(place[-1].line, item.line):
            yield place
            place = []
        place.append(item)
    if place:
        yield place


def _is_near(one: SourceLine, other: SourceLine) -> bool:
    return one.file == other.file and other.number - one.number <= MOST_DISTANCE


def _finding(
    row: str, cause: str, place: list[_Evidence], saved: int
) -> tuple[SourceLine, Finding]:
    """Return (line, finding) for a cause at a place, which is a group of neighbouring lines.

    The line is the one with most cycles of the cause. `row` is the row of the timeline. `saved` is
    the number of cycles that the run would save without the cause.
    """
    ordered = sorted(place, key=lambda item: -item.cycles)
    cores = list(dict.fromkeys(core for item in place for core in item.cycles_of))
    whom: dict[str, float] = defaultdict(float)
    for item in place:
        for name, cycles in item.whom.items():
            whom[name] += cycles
    finding = Finding(
        cores[0] if len(cores) == 1 else row,
        cause,
        ordered[0].line.sentence,
        saved,
        round(sum(item.cycles for item in place)),
        BY_CAUSE[cause].text,
        tuple(name for name in sorted(whom, key=lambda name: -whom[name]) if name),
        tuple(item.line.sentence for item in ordered[1:]),
    )
    return ordered[0].line, finding
