"""Charged runs made by hand, and the findings in them in short."""

from __future__ import annotations

from collections import defaultdict

from docs.causes import mendable
from macaw.emu.charges import Charge, CoreLog
from macaw.profiling import findings
from macaw.profiling.account import Account
from macaw.profiling.accounting import ChargedRun
from macaw.profiling.source_lines import NOWHERE, SourceLine


def place_of(where: str) -> str:
    return ":".join(where.split(":")[:2])


WORK = Charge("work", 0)


def stall(address: int, cause: str = "results") -> Charge:
    return Charge(cause, address)


def line(number: int, file: str = "/x/a.s") -> SourceLine:
    return SourceLine(file, number, 0, f"{file.rpartition('/')[2]}:{number}", "add")


Steps = dict[int, dict[tuple[int, int, int], list[int]]]


def run_of(
    charges: dict[str, list[tuple[int, int, Charge]]],
    lines: dict[int | None, SourceLine],
    least: dict[str, int] | None = None,
    steps: Steps | None = None,
    along: dict[Charge, dict[Charge, int]] | None = None,
) -> ChargedRun:
    """A run of cores with one compute unit each; the row of `pe[0]` is `pe`."""
    end = max(until for spans in charges.values() for _, until, _ in spans)
    logs = {core: CoreLog() for core in charges}
    totals: dict[str, dict[Charge, int]] = {core: defaultdict(int) for core in charges}
    for core, spans in charges.items():
        for begin, until, charge in spans:
            logs[core].add(begin, charge)
            logs[core].add(until, None)
            totals[core][charge] += until - begin
    accounts = [Account(core, core.partition("[")[0], end, 1, (), ()) for core in charges]
    return ChargedRun(
        end,
        tuple(accounts),
        logs,
        totals,
        dict.fromkeys(charges, lines),
        dict.fromkeys(charges, least or {}),
        {core: {} for core in charges},
        dict.fromkeys(charges, ()),
        dict.fromkeys(charges, steps or {}),
        {core: mendable()[core.partition("[")[0]] for core in charges},
        dict.fromkeys(charges, 1.0),
        dict.fromkeys(charges, along or {}),
        {core: {} for core in charges},
        {},
        {},
        {},
        lambda addresses: end,
    )


def summary(run: ChargedRun) -> list[tuple[str, str, str, int]]:
    return [(x.core, x.cause, place_of(x.where), x.saved) for x in findings.find(run)]


LINES = {None: NOWHERE, 0: line(1), 4: line(5), 8: line(9), 12: line(90)}
