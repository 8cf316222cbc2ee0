"""Accounts of random programs: charges add up to the cycles, and agree with the cores' counters."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from macaw.asm.assembler import Source, assemble
from macaw.emu import accounting
from macaw.emu.accountant import Accountant
from macaw.emu.charges import Charge, CoreLog
from macaw.emu.critical_path import Step, critical_path
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config
from macaw.isa.causes import BY_NAME, CAUSES
from macaw.isa.pe import CYCLE_CLASSES
from tests.emu.fim.machine import Machine
from tests.emu.random_runs import (
    LIMIT,
    RandomRun,
    dma_run,
    island_run,
    nnp_run,
    row_run,
    scalar_run,
)

pytestmark = pytest.mark.once

LEAVES = {cause.name for cause in CAUSES} - {cause.parent for cause in CAUSES}
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 100))]
Causes = Counter[str]


def account(device: Device) -> dict[str, Causes]:
    """Run a device and test what holds for all accounts; return cores' cycles by cause."""
    with np.errstate(all="ignore"):
        _, accountants = accounting.run(device, LIMIT)
    found = {}
    for name, one in accountants.items():
        assert sum(one.charges.values()) == device.cycle * one.units, name
        assert all(cycles > 0 for cycles in one.charges.values()), name
        found[name] = by_cause(one)
        assert found[name].keys() <= LEAVES
        assert_logged(one, device.cycle)
    assert_path(device, accountants)
    return found


def assert_logged(one: Accountant, cycles: int) -> None:
    """The log of a core has no charge in idle cycles.

    If the core has one unit, each other charge has the same number of cycles in log and account.
    """
    logged: Counter[Charge] = Counter()
    for begin, end, charge in one.log.spans(cycles):
        assert 0 <= begin < end <= cycles
        if charge is not None:
            logged[charge] += end - begin
    if one.units == 1:
        busy = {k: v for k, v in one.charges.items() if BY_NAME[k.cause].parent != "idle"}
        assert logged == busy
    else:
        assert logged.keys() <= one.charges.keys()


def assert_path(device: Device, accountants: dict[str, Accountant]) -> None:
    """The critical path contains each cycle once, and equals the path found cycle by cycle."""
    logs = {core.number: accountants[core.name].log for core in device.order}
    path = critical_path(logs, device.cycle)
    assert sum(path.values()) == device.cycle
    assert path == path_by_cycles(logs, device.cycle)


def path_by_cycles(logs: dict[int, CoreLog], cycles: int) -> dict[Step, int]:
    """The critical path by its definition, for each cycle separately."""
    acts = {
        number: [charge for begin, end, charge in log.spans(cycles) for _ in range(end - begin)]
        for number, log in logs.items()
    }
    counts: Counter[Step] = Counter()
    core = min(logs)
    for cycle in reversed(range(cycles)):
        seen = [core]
        while True:
            charge = acts[core][cycle]
            next_cores = [
                number
                for number in sorted(logs)
                if (charge is None or charge.cores & 1 << number)
                and acts[number][cycle] is not None
                and number not in seen
            ]
            if not next_cores:
                break
            core = next_cores[0]
            seen.append(core)
        if charge is not None and charge.cores:  # they wait for each other
            core = next(number for number in seen if acts[number][cycle] is not None)
        counts[core, acts[core][cycle]] += 1
    return counts


def by_cause(one: Accountant) -> Causes:
    found: Causes = Counter()
    for charge, cycles in one.charges.items():
        found[charge.cause] += cycles
    return found


def assert_same(run: RandomRun) -> dict[str, Causes]:
    """Both engines have the same charges, and the account changes nothing in the run."""
    found = [account(device) for device in run.devices]
    assert found[0] == found[1]
    run.check_unchanged()
    return found[0]


@pytest.mark.parametrize("core", ["cp", "vc"])
@pytest.mark.parametrize("seed", SEEDS)
def test_scalar_cores(core: str, seed: int) -> None:
    run = scalar_run(core, seed)
    causes = assert_same(run)[core]
    counts, divider = run.plain.counters()[core], run.plain.cores[core].divider
    issued = causes["work"] + causes["narrow"]
    assert issued == pytest.approx(counts["instructions"] * divider, abs=divider)
    if core == "vc":
        slack = 40 * divider  # cycles of instructions at the end of the run
        expected = {
            ("loads", "results", "latency"): counts["cycles_operands"],
            ("banks", "lanes", "channel"): counts["cycles_memory"],
            ("branches",): counts["cycles_branches"],
        }
        for names, cycles in expected.items():
            assert sum(causes[x] for x in names) == pytest.approx(cycles * divider, abs=slack)


@pytest.mark.parametrize("seed", SEEDS)
def test_dma(seed: int) -> None:
    run = dma_run(seed)
    found, plain = assert_same(run), run.plain
    busy = sum(cycles for name, cycles in found["dma"].items() if BY_NAME[name].parent != "idle")
    running = 0 if not plain.cores["dma"].running else plain.cycle - plain.cores["dma"].state.began
    assert busy == plain.counters()["dma"]["cycles_busy"] + running


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("destination", "pause"), [(0x40000000, 3), (0x10000000, 0)])
def test_beats_that_memory_takes_slowly_are_channel(
    engine: str, destination: int, pause: int
) -> None:
    """If memory takes beats more slowly than the dma writes them, the pauses are `channel`.

    The dma writes a beat a cycle. An island takes a column of a bank each tCCDL (4 cycles), the
    on-chip memory a beat a cycle.
    """
    for count in (1, 2, 9):
        text = f"""
            .device tiny
            .input x, int8, 1024
            .core cp
    _start: la a0, take
            dma.copy zero, a0
            dma.wait zero
            li a0, 0
            li a7, 93
            ecall
            .section .data.cp
            .balign 4
    take:   .word {destination}, x, 32 * {count}, 1, 0, 0
        """
        device = Device(config.load("tiny"), engine=engine)
        device.load(assemble(Source(text, "a.s")))
        assert account(device)["dma"]["channel"] == (count - 1) * pause


@pytest.mark.parametrize("seed", SEEDS)
def test_rows(seed: int) -> None:
    run = row_run(seed)
    causes = assert_same(run)["pe[0]"]
    counts, divider = run.plain.counters()["pe[0]"], run.plain.cores["pe[0]"].divider
    names = {"work": "mac", "fill": "filling", "handover": "handing", "imbalance": "early"}
    for cause, name in names.items():
        assert causes[cause] == counts[f"cycles_{name}"] * divider
    total = sum(counts[row.name] for row in CYCLE_CLASSES) * divider
    busy = sum(cycles for name, cycles in causes.items() if BY_NAME[name].parent != "idle")
    assert busy == total


@pytest.mark.parametrize("seed", SEEDS)
def test_nnp(seed: int) -> None:
    run = nnp_run(seed)
    assert assert_same(run)["nnp"]["work"] <= run.plain.cycle


@pytest.mark.parametrize("engine", ENGINES)
def test_cycles_of_nnp_have_instructions(engine: str) -> None:
    """Each cycle of nnp belongs to an instruction (by hand, on tiny).

    The second chain needs the result of the first one. A chain takes 8 (read) + 4 + 8 (MFU0) + 4
    (MFU1) + 8 (write) + 2 cycles after its last instruction was issued; the second chain is issued
    meanwhile.
    """
    tiny = config.load("tiny")
    device = Device(tiny, engine=engine)
    chains = "v_rd InitialVrf, {0}\n v_tanh\n v_wr InitialVrf, {1}\n"
    source = ".core nnp\n" + chains.format(0, 1) + chains.format(1, 2) + "end_chain\n"
    program = assemble(Source(source, "two.s"), device=tiny)
    device.load(program)
    _, accountants = accounting.run(device, LIMIT)
    table = {line.address: line.line for line in program.line_table}
    found = {
        (charge.cause, table[charge.address]): cycles
        for charge, cycles in accountants["nnp"].charges.items()
        if charge.address is not None
    }
    assert found == {
        ("issue", 2): 1, ("issue", 3): 1, ("fill", 2): 34, ("fill", 5): 34, ("issue", 8): 1,
    }  # fmt: skip


@pytest.mark.parametrize("seed", SEEDS)
def test_islands(seed: int) -> None:
    run = island_run(seed)
    found = assert_same(run)
    device: Any = run.plain  # its cores are islands
    for name, causes in found.items():
        counts = device.counters()[name]
        if not name.startswith("fim"):
            continue
        core = device.cores[name]
        divider, banks = core.divider, len(core.circuits)
        moved = counts["pushed"] + counts["pulled"]  # each for all banks of a block
        assert causes["work"] <= (counts["operations"] + moved * banks) * divider
        if any(block.running for block in core.blocks):
            continue  # the counters have cycles after the end, the account has waits without end
        assert causes["work"] >= counts["operations"] * divider
        least = min((len(block.banks) for block in core.blocks), default=0)
        most = max((len(block.banks) for block in core.blocks), default=0)
        # the counters count a wait once, the account for each bank of the block
        for names, counters in (
            (("loads", "data"), ("cycles_pull",)),
            (("locks",), ("cycles_lock",)),
            (("banks",), ("waits_t_ccd", "waits_t_wtr", "waits_t_rtw")),
            (("channel",), ("waits_channel",)),
        ):
            cycles = sum(causes[x] for x in names)
            counted = sum(counts[x] for x in counters)
            assert least * counted <= cycles <= most * counted, names
        assert causes["results"] >= least * counts["cycles_alu"]
        assert causes["latency"] >= least * counts["waits_t_column"]


@pytest.mark.parametrize("engine", ENGINES)
def test_two_blocks_of_an_island(engine: str) -> None:
    """Each wait of an island has its block, word and timing constraint (by hand, on tiny).

    The push comes in cycle 2 and opens its row; the columns are written in cycles 12 (tRCDWR) and
    16 (tCCDL) and stored in 22 and 26. The pull waits for the first column and reads from cycle 22
    to 44, when the run ends.
    """
    lines = [
        ".block banks=0-1", "mmr b0_low, 0x40030000", "mmr b0_high, 0x40030200", "push gio", "end",
        ".block banks=2", "pull rop", "end",
    ]  # fmt: skip
    machine = Machine(lines, engine=engine).start()
    _, accountants = accounting.run(machine.device, LIMIT)
    charges = accountants[machine.island.name].charges
    found = {
        (charge.cause, charge.whom, charge.address): cycles
        for charge, cycles in charges.items()
        if charge.address is not None
    }
    addresses = sorted({address for _, _, address in found})
    places = {address: place for place, address in enumerate(addresses)}
    assert {(*names, places[address]): cycles for (*names, address), cycles in found.items()} == {
        ("issue", "", 0): 2,
        ("issue", "", 1): 2,
        ("rows", "", 2): 2 * 10,
        ("banks", "", 2): 2 * 3,
        ("work", "", 2): 2 * 2,
        ("latency", "", 3): 2 * 9,
        ("issue", "", 3): 2,
        ("data", "block 0", 4): 22,
        ("work", "", 4): 1,
        ("latency", "", 5): 21,
    }
