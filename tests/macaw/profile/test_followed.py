"""A run without the cause of a finding is shorter by at least a fifth of the finding's price.

For cp, and for stalls and branches of vc, the emulator leaves out the cycles at the lines of the
finding. For other causes, the program runs on a device that does not have the cause at any line.
This shows only that the run depends on the cause. In both cases, contention, order and waits are
the emulator's, not the ones of the graph that computes prices (`macaw.profiling.counterfactual`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

import macaw
from docs.causes import mendable
from macaw.emu.core import Core, Event
from macaw.emu.device import Device
from macaw.execution import configuration_of
from macaw.golden_description import read_description
from macaw.profiling import findings
from macaw.profiling.accounting import ChargedRun, charge_job
from macaw.profiling.model import Finding
from macaw.profiling.recording import Job, item_inputs, make_job
from tests.macaw.profile.edits import EDITS
from tests.macaw.profile.edits_of_arrays import ARRAY_EDITS

pytestmark = pytest.mark.once

Help = Callable[[str, set[int]], int]  # name of a sample, addresses: cycles of the run

PROGRAMS = Path(__file__).parents[3] / "programs"
MOST = 3  # findings of a program
LEAST = 0.2  # of the price
LONG = ("digits_protected",)
# Settings of the memory of islands with which a row is open at once.
ROWS = {f"fim.{name}": 1 for name in ("t_rp", "t_rcdrd", "t_rcdwr", "t_ras", "t_rc")}
LATENCY = {"mem.external_latency": 1}
BANKS = {"mem.banks": 512, "mem.bank_width": 64}
BUS = {"dist.bus_bytes": 256}
DEPTHS = {
    f"nnp.{name}_depth": 1
    for name in ("read", "multiplier", "crossbar", "add", "multiply", "activation", "write")
}


@cache
def job_of(name: str) -> Job:
    made = read_description(PROGRAMS / name)
    load = macaw.load if made.sources[0].suffix == ".elf" else macaw.assemble
    program = load(*made.sources)
    inputs = {tensor: np.load(path) for tensor, path in made.inputs.items()}
    return make_job(program, configuration_of(program, None), item_inputs(program, inputs, 0))


@cache
def charged(name: str) -> ChargedRun:
    return charge_job(job_of(name))


def samples() -> Iterator[str]:
    for path in sorted(PROGRAMS.rglob("golden.toml")):
        yield path.parent.relative_to(PROGRAMS).as_posix()


# Runs without a cause --------------------------------------------------------------------------


def addresses(name: str, finding: Finding) -> set[int]:
    """The addresses of the instructions in the lines of a finding."""
    wheres = {finding.where, *finding.others}
    return {
        address
        for lines in charged(name).lines.values()
        for address, line in lines.items()
        if address is not None and line.sentence in wheres
    }


def cycles_without(name: str, finding: Finding) -> int | None:
    """The cycles of the run without a finding's cause; None if the emulator cannot leave it out."""
    help_ = help_of(name, finding)
    if help_ is None:
        return None
    at = addresses(name, finding)
    if finding.cause in OF_SOME_INSTRUCTIONS:
        charges = [charge for of_core in charged(name).charges.values() for charge in of_core]
        at &= {x.address for x in charges if x.cause == finding.cause and x.address is not None}
    return help_(name, at)


def help_of(name: str, finding: Finding) -> Help | None:
    """The function that runs a sample program without the cause of a finding, or None."""
    row = finding.core.partition("[")[0]
    of_sample = SAMPLES.get((name, finding.core, finding.cause))
    return of_sample or HELPS.get((row, finding.cause))


def followed_by(name: str, finding: Finding) -> str:
    """How a test follows a finding: by an `edit`, by a `run` without the cause, or "" (not)."""
    place = finding.where.rpartition(": ")[0].partition(": ")[0]
    edits = {(x.sample, x.core, x.cause, x.place) for x in (*EDITS, *ARRAY_EDITS)}
    if (name, finding.core, finding.cause, place) in edits:
        return "edit"
    return "run" if help_of(name, finding) else ""


def run(device: Device, on_act: Callable[[Core], object]) -> int:
    def act(core: Core | None) -> None:
        if core is not None:
            on_act(core)

    device.on_act = act
    assert device.run().reason == "exit"
    return device.cycle


def one_by_one(device: Device, name: str) -> Any:
    """Make a core execute one instruction at a time from now on; return the core."""
    core = device.cores[name]
    core.listeners.append(lambda event: None)
    return core


def without_cycles(core_name: str, left: int = 1) -> Help:
    """A function that runs a program in which instructions at some addresses take `left` cycles."""

    def run_without(name: str, at: set[int]) -> int:
        device = job_of(name).machine()
        core = one_by_one(device, core_name)
        began: dict[str, int] = {}

        def on_act(acted: Core) -> None:
            address, retired = began.get("address"), began.get("retired", 0)
            if acted is core and core.retired > retired:
                if address in at and core.running:
                    core.time = min(core.time, device.cycle + left * core.divider)
                began["retired"] = core.retired
            began["address"] = core.pc

        began["address"] = core.pc
        return run(device, on_act)

    return run_without


def without_stalls(name: str, at: set[int]) -> int:
    """The cycles of a run in which vc's instructions at addresses `at` do not wait for operands."""
    device = job_of(name).machine()
    core = one_by_one(device, "vc")

    def on_act(acted: Core) -> None:
        if core.pc in at and core.running:
            core.ready[:] = [min(ready, core.time) for ready in core.ready]

    return run(device, on_act)


def without_words(name: str, at: set[int]) -> int:
    """The cycles of a run in which the words of islands at addresses `at` take no cycle."""
    device = job_of(name).machine()

    def leave_out(core: Any) -> Callable[[Event], None]:
        def hear(event: Event) -> None:
            if event.kind == "advanced" and event.values["address"] in at:
                block = core.blocks[int(event.values["block"])]
                if block.running:
                    block.time = int(event.values["since"])

        return hear

    for core_name, core in device.cores.items():
        if core_name.startswith("fim"):
            core.listeners.append(leave_out(core))
    return run(device, lambda core: None)


def with_a_quarter_of_the_last_layer(name: str, at: set[int]) -> int:
    """The cycles of a run in which the last layer of `network` has a quarter of its weights.

    One of four rows of the array computes this layer. If all four computed it, each would have a
    quarter of the work. The dma also copies fewer weights: it works 72 cycles less, while the run
    is 165 cycles shorter.
    """
    made = read_description(PROGRAMS / name)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copytree(PROGRAMS / name, copy)
        weights = np.load(copy / "net/dense.w.npy")
        for row in weights:
            row[[place for n, place in enumerate(np.flatnonzero(row)) if n % 4]] = 0
        np.save(copy / "net/dense.w.npy", weights)
        program = macaw.assemble(*(copy / x.relative_to(PROGRAMS / name) for x in made.sources))
    job = job_of(name)
    return run(make_job(program, job.config, job.inputs).machine(), lambda core: None)


def with_settings(**settings: int) -> Help:
    """A function that runs a program on a device with other settings."""

    def run_with(name: str, at: set[int]) -> int:
        job = job_of(name)
        config = job.config.changed(settings)
        device = make_job(job.program, config, job.inputs).machine()
        return run(device, lambda core: None)

    return run_with


HELPS: dict[tuple[str, str], Help] = {
    ("cp", "latency"): without_cycles("cp"),
    ("cp", "branches"): without_cycles("cp"),
    ("cp", "long"): without_cycles("cp"),
    ("cp", "transfers"): with_settings(**LATENCY),
    ("vc", "branches"): without_cycles("vc"),
    ("vc", "narrow"): without_cycles("vc", left=0),
    ("vc", "lanes"): with_settings(**BANKS),
    ("vc", "loads"): without_stalls,
    ("vc", "results"): without_stalls,
    ("dma", "latency"): with_settings(**LATENCY),
    ("pe", "bus"): with_settings(**BUS),
    ("pe", "lanes"): with_settings(**BANKS),
    ("nnp", "fill"): with_settings(**DEPTHS),
    ("fim", "rows"): with_settings(**ROWS),
    ("fim", "issue"): without_words,
}

# Runs without a cause that are for one sample: by sample, core and cause.
SAMPLES: dict[tuple[str, str, str], Help] = {
    ("network", "pe", "imbalance"): with_a_quarter_of_the_last_layer,
}

# Causes of some instructions of a line; the others do other work, or wait for something else.
OF_SOME_INSTRUCTIONS = {"narrow", "issue", "loads", "results"}

# Causes with an advice that the emulator cannot leave out by itself.
WITHOUT_HELP = {("dma", "narrow"), ("dma", "data"), ("pe", "packets"), ("pe", "imbalance")}


def test_each_cause_with_advice_has_a_help_or_is_listed_without() -> None:
    pairs = {(core, cause) for core, causes in mendable().items() for cause in causes}
    assert HELPS.keys() | WITHOUT_HELP == pairs
    assert HELPS.keys().isdisjoint(WITHOUT_HELP)


EACH_SAMPLE = pytest.mark.parametrize(
    "name",
    [pytest.param(x, marks=pytest.mark.long) if x in LONG else x for x in samples()],
)


@pytest.mark.few(8)
@EACH_SAMPLE
def test_a_run_without_the_cause_is_shorter_by_a_fifth_of_the_price(name: str) -> None:
    for finding in findings.find(charged(name))[:MOST]:
        cycles = cycles_without(name, finding)
        if cycles is not None:
            saved = charged(name).cycles - cycles
            assert saved >= LEAST * finding.saved


@pytest.mark.few(8)
@EACH_SAMPLE
def test_each_of_the_first_findings_is_followed(name: str) -> None:
    first = findings.find(charged(name))[:MOST]
    assert [finding for finding in first if not followed_by(name, finding)] == []


if __name__ == "__main__":  # the list of all first findings, and by what each is followed
    for sample in samples():
        for one in findings.find(charged(sample))[:MOST]:
            print(
                followed_by(sample, one) or "-", sample, one.core, one.cause, one.saved, one.where
            )
