"""Records of cp and vc on both engines equal a model's, made from events of a run without
recording.
"""

from __future__ import annotations

import pytest

from macaw.emu.engines import ENGINES
from macaw.isa.trace import GROUP
from tests.emu import cp_machine
from tests.emu.scalar_devices import CORE_MODULES, stop_summary
from tests.emu.toys import UNIT, toy
from tests.emu.traced_programs import (
    ExecutedInstruction,
    configure_trace,
    execution_log,
    expected_auto_records,
    expected_record,
    random_parameters,
    record_key,
    spilled_records,
    traced_devices,
)

pytestmark = pytest.mark.once

COUNTERS = [row.name for row in GROUP]


def marked(core: str, log: list[ExecutedInstruction]) -> list[dict[str, int]]:
    """The records that mark mode must give."""
    found = []
    begun: dict[int, int] = {}

    def end(group: int, stop: int) -> None:
        if group in begun:
            first = begun.pop(group)
            inside = [x for x in log[first:stop] if not x.mnemonic.startswith("trace")]
            found.append(expected_record(core, group, 0, first, inside))

    for number, x in enumerate(log):
        if x.mnemonic.startswith("trace"):
            end(x.operands["g"], number)
            if x.mnemonic == "trace_begin":
                begun[x.operands["g"]] = number + 1
    for group in sorted(begun):
        end(group, len(log))
    return found


def followed(devices, chance, spans):
    """Run all devices stop by stop until they end; compare stops and hashes of both engines."""
    for _ in range(400):
        until = devices[0].cycle + chance.choice(spans)
        stops = [device.run(until=until) for device in devices]
        assert len({stop_summary(stop) for stop in stops}) == 1
        assert devices[0].hash() == devices[1].hash()
        if stops[0].reason in ("exit", "fault"):
            break
        if chance.random() < 0.3:
            held = [device.snapshot() for device in devices[:2]]
            devices[0].restore(held[1])
            devices[1].restore(held[0])
    return stops[0]


@pytest.mark.few(5)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(14))
def test_auto_mode(core: str, seed: int) -> None:
    devices, chance = traced_devices(core, seed)
    p = random_parameters(chance)
    for device in devices[:2]:
        configure_trace(device, core, 1, p)
    spans = chance.choice(((20_000,), (900, 333, 4097), (20_000, 50)))
    stop = followed(devices[:2], chance, spans)
    log, end = execution_log(devices[2], core)
    assert stop_summary(end) == stop_summary(stop)
    found = spilled_records(devices[1], core)
    lost = devices[1].cores[core].trace.read("trace_lost")
    expected = expected_auto_records(core, log, p, devices[1].cores[core].trace.groups)
    assert len(found) + lost == len(expected)
    if stop.reason == "exit":
        behind = {record_key(x): x for x in expected}
        assert found == [behind[record_key(x)] for x in found]


@pytest.mark.few(5)
@pytest.mark.parametrize("core", CORE_MODULES)
@pytest.mark.parametrize("seed", range(12))
def test_mark_mode(core: str, seed: int) -> None:
    devices, chance = traced_devices(core, seed, has_markers=True)
    for device in devices[:2]:
        configure_trace(device, core, 0, {})
    stop = followed(devices[:2], chance, chance.choice(((20_000,), (900, 333, 4097))))
    log, end = execution_log(devices[2], core)
    assert stop_summary(end) == stop_summary(stop)
    expected = marked(core, log)
    found, lost = spilled_records(devices[1], core), devices[1].cores[core].trace.read("trace_lost")
    assert len(found) + lost == len(expected)
    if stop.reason == "exit":
        assert found == expected[: len(found)]


def test_those_programs_show_what_they_shall() -> None:
    """Most random programs end by themselves and run blocks that count; all counters are used."""
    ends, blocks, seen = 0, 0, dict.fromkeys(COUNTERS, 0)
    for core in CORE_MODULES:
        for seed in range(14):
            (_, fast, _), chance = traced_devices(core, seed)
            configure_trace(fast, core, 1, random_parameters(chance))
            stop = fast.run()
            while stop.reason == "breakpoint":
                stop = fast.run()
            ends += stop.reason == "exit"
            blocks += bool(fast.cores[core].counting.blocks)
            for row in spilled_records(fast, core):
                for name in COUNTERS:
                    seen[name] += bool(row[name])
    assert ends >= 10
    assert blocks >= 8
    seen.pop("e_rd_blocked"), seen.pop("e_wr_blocked")  # nobody contends
    assert all(seen.values()), seen


@pytest.mark.parametrize("engine", ENGINES)
def test_blocked_accesses(engine: str) -> None:
    """cp's records count accesses that wait for a toy core that loads from the same banks."""
    script = [("load", UNIT, 4) for _ in range(400)] + [("end",)]
    body = "lw a1, 0(a0)\nsw a1, 8(a0)\nlw a1, 128(a0)\nsw a1, 0(a0)\n"
    source = f"lui a0, {UNIT >> 12:#x}\n{body * 20}addi a7, zero, 93\necall"
    traced, plain = (
        cp_machine.machine(
            source, toy(5, script), toy(6, script), engine=engine, trace__recording=recording
        )
        for recording in (True, False)
    )
    p = {"begin": 3, "num": 9, "step": 9, "overhead": 36, "loops": 2}
    configure_trace(traced, "cp", 1, p)
    assert stop_summary(traced.run()) == stop_summary(execution_log(plain, "cp")[1])
    again = cp_machine.machine(
        source, toy(5, script), toy(6, script), engine=engine, trace__recording=False
    )
    expected = expected_auto_records("cp", execution_log(again, "cp")[0], p)
    assert spilled_records(traced, "cp") == sorted(expected, key=lambda x: x["first"])
    for name in ("e_rd", "e_rd_blocked", "e_wr", "e_wr_blocked"):
        assert sum(x[name] for x in expected) > 5
