"""Borders of the trace inside hot loops: translated blocks continue after a border.

States are compared with the reference engine, records with the model of `test_traced_engines`.
"""

from __future__ import annotations

import random

import pytest

from macaw.asm.assembler import assemble
from macaw.asm.source import Source
from macaw.emu.engines import ENGINES
from macaw.emu.scalar.fast import blocks
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.trace import RECORD
from tests.emu import cp_machine
from tests.emu.scalar_devices import CORE_MODULES, device_with_code, stop_summary
from tests.emu.traced_programs import (
    configure_trace,
    execution_log,
    expected_auto_records,
    record_key,
    spilled_records,
)

pytestmark = pytest.mark.once


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Translate the edition that crosses borders after few cuts, because the loops here are short."""
    monkeypatch.setattr(blocks, "CUT_HOT", 6)


TEXTS = {"cp": cp_machine.TEXT, "vc": EXTERNAL + 0x2000}
DATA = {"cp": 0x40000, "vc": EXTERNAL + 0x8000}
END = """
        li      a0, 0
        li      a7, 93
        ecall
"""
# Uses of units at the start, at the end, nowhere before a branch back, and after it.
LOOPS = {
    "memory": """
loop:   lbu     t0, 0(s1)
        lw      t1, 4(s1)
        add     t2, t2, t0
        mul     t3, t2, t1
        sb      t3, 0(s1)
        sw      t2, 8(s1)
        addi    s0, s0, -1
        bnez    s0, loop
        addi    t4, t4, 1
""",
    "two ways back": """
loop:   lw      t0, 0(s1)
        lw      t1, 4(s1)
        blt     t0, zero, loop
        addi    s0, s0, -1
        andi    t2, s0, 3
        bnez    t2, loop
        div     t3, s0, t2
        sw      t3, 12(s1)
        bnez    s0, loop
""",
    "no unit": """
loop:   lw      t0, 0(s1)
        sw      t0, 8(s1)
        lbu     t1, 0(s1)
        beq     t0, t1, loop
        lw      t1, 4(s1)
        sh      t1, 16(s1)
        bne     t1, t0, down
        j       loop
down:   addi    s0, s0, -1
        bnez    s0, loop
""",
}
LANES = """
loop:   vld     vr1, (s1)
        vadd.b  vr2, vr1, vr2
        pmac.s8 vr3, vr1, vr2, vr4
        addi    s0, s0, -1
        vst     vr3, 16(s1)
        bnez    s0, loop
"""


def devices_of(core: str, body: str, rounds: int = 150, **changes: object):
    """Devices: reference engine, fast engine, and one without recording; `s1` points to data."""
    source = f".core {core}\n li s0, {rounds}\n li s1, {DATA[core]:#x}\n{body}{END}"
    text = assemble(Source(source, "loop.s")).section(f".text.{core}").data
    data = [(DATA[core], bytes(range(1, 65)))]
    made = []
    for engine, recording in ((ENGINES[1], True), (ENGINES[0], True), (ENGINES[0], False)):
        settings = {"trace__recording": recording, **changes}
        device = device_with_code(core, engine, TEXTS[core], text, data, **settings)
        device.cores[core].trace.start(0)
        made.append(device)
    return made


def crossing(device, core: str) -> int:
    """The number of translated blocks that cross borders."""
    return sum(
        block.crosses or block.times is not None
        for block in device.cores[core].counting.blocks.values()
    )


def same_to_the_end(devices, spans):
    """Run both engines stop by stop to the end; stops and states must be equal."""
    while True:
        for span in spans:
            stops = [device.run(max_cycles=span) for device in devices]
            assert stop_summary(stops[0]) == stop_summary(stops[1])
            assert devices[0].hash() == devices[1].hash()
            assert devices[0].counters() == devices[1].counters()
            if stops[0].reason in ("exit", "fault"):
                return stops[0]


CASES = [(core, loop) for core in CORE_MODULES for loop in LOOPS] + [("vc", "lanes")]


@pytest.mark.few(17)
@pytest.mark.parametrize(("core", "loop"), CASES)
@pytest.mark.parametrize(("num", "step"), [(1, 1), (5, 5), (37, 37), (20, 33), (64, 10)])
def test_groups_of_all_lengths(core: str, loop: str, num: int, step: int) -> None:
    devices = devices_of(core, LANES if loop == "lanes" else LOOPS[loop])
    p = {"begin": 3, "num": num, "step": step, "overhead": 4 * step, "loops": 0}
    for device in devices[:2]:
        configure_trace(device, core, 1, p)
    same_to_the_end(devices[:2], (100_000,) if num > 20 else (701, 4096))
    assert crossing(devices[1], core)
    log, _ = execution_log(devices[2], core)
    expected = {record_key(x): x for x in expected_auto_records(core, log, p)}
    found = spilled_records(devices[1], core)
    assert len(found) + devices[1].cores[core].trace.read("trace_lost") == len(expected)
    assert found == [expected[record_key(x)] for x in found]
    assert len(found) > 10


@pytest.mark.parametrize("core", CORE_MODULES)
def test_the_last_border(core: str) -> None:
    """After the last border, the core leaves the block that counts and runs code without counts."""
    devices = devices_of(core, LOOPS["memory"], 1500)
    p = {"begin": 0, "num": 31, "step": 31, "overhead": 124, "loops": 5}
    for device in devices[:2]:
        configure_trace(device, core, 1, p)
    same_to_the_end(devices[:2], (100_000,))
    assert crossing(devices[1], core)
    assert devices[1].cores[core].plain.blocks
    assert len(spilled_records(devices[1], core)) == 20


@pytest.mark.parametrize("core", CORE_MODULES)
def test_a_record_without_a_place(core: str) -> None:
    """A record beyond the end of memory is a fault in the cycle of its border."""
    devices = devices_of(core, LOOPS["memory"])
    end = EXTERNAL + devices[0].memory.external_bytes
    for device in devices[:2]:
        configure_trace(device, core, 1, {"begin": 0, "num": 31, "step": 31, "overhead": 124})
        device.cores[core].write_trace("trace_spill", end - 20 * RECORD.size)
        device.cores[core].write_trace("trace_spill_end", end + 20 * RECORD.size)
    stop = same_to_the_end(devices[:2], (100_000,))
    assert stop.reason == "fault"
    assert crossing(devices[1], core)
    assert devices[1].cores[core].retired == 21 * 31


@pytest.mark.parametrize("core", CORE_MODULES)
def test_records_over_the_loop(core: str) -> None:
    """A record that is written over the running code changes the code."""
    devices = devices_of(core, LOOPS["memory"])
    area = TEXTS[core] - 12 * RECORD.size + 8
    for device in devices[:2]:
        configure_trace(device, core, 1, {"begin": 0, "num": 61, "step": 61, "overhead": 244})
        device.cores[core].write_trace("trace_spill", area)
        device.cores[core].write_trace("trace_spill_end", area + 100 * RECORD.size)
    stop = same_to_the_end(devices[:2], (100_000,))
    assert stop.reason == "fault"
    assert devices[1].cores[core].retired == 13 * 61


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(40))
def test_records_where_a_loop_works(seed: int) -> None:
    """A loop of vc reads its own records, and writes over them, in the cycle of each access."""
    chance = random.Random(seed)
    lines = []
    for register in ("s1", "s2"):
        size, op = chance.choice(((1, "b"), (4, "w"), (4, "w"), (16, "v")))
        step = size * chance.choice((-3, -1, 0, 1, 1, 2))
        at = f"{size * chance.randrange(4)}({register})"
        if op == "v":
            lines += [chance.choice((f"vld vr1, {at}", f"vst vr1, {at}"))]
        else:
            lines += [chance.choice((f"l{op} t0, {at}", f"s{op} t2, {at}"))]
        lines += [f"addi {register}, {register}, {step}"]
    body = ["loop:", *lines, "add t2, t2, t0", "addi s0, s0, -1", "bnez s0, loop"]
    if chance.random() < 0.2:
        body.append("sw t0, 12(s2)")
    devices = devices_of(
        "vc", f"li s2, {DATA['vc'] + 64 * chance.randrange(20):#x}\n" + "\n".join(body)
    )
    num = chance.choice((1, 7, 31, 50))
    area = DATA["vc"] + 4 * chance.randrange(-2000, 500)
    for device in devices[:2]:
        configure_trace(device, "vc", 1, {"begin": 0, "num": num, "step": num, "overhead": 4 * num})
        device.cores["vc"].write_trace("trace_spill", area)
        device.cores["vc"].write_trace("trace_spill_end", area + 400 * RECORD.size)
    same_to_the_end(devices[:2], chance.choice(((100_000,), (701, 4096))))


COMPUTED = {  # `{at}` is in a record; s1 points to the area
    "constant": "li s3, {at}\n lw t0, 0(s3)",
    "copy of a pointer that moves": "mv s3, s1\n lw t0, 0(s3)\n addi s1, s1, 4",
    "pointer, in two blocks": "addi s3, s1, 900\n lw t0, 0(s3)\n j second\n nop\nsecond: nop",
}


@pytest.mark.parametrize("kind", COMPUTED)
def test_records_that_a_loop_reads_at_computed_addresses(kind: str) -> None:
    """The sum of what the loop reads shows in which cycle each record was written."""
    body = COMPUTED[kind].format(at=hex(DATA["vc"] + 900))
    devices = devices_of("vc", f"loop: {body}\n add t2, t2, t0\n addi s0, s0, -1\n bnez s0, loop")
    for device in devices[:2]:
        configure_trace(device, "vc", 1, {"begin": 0, "num": 31, "step": 31, "overhead": 124})
        device.cores["vc"].write_trace("trace_spill", DATA["vc"])
        device.cores["vc"].write_trace("trace_spill_end", DATA["vc"] + 400 * RECORD.size)
    same_to_the_end(devices[:2], (100_000,))


@pytest.mark.few(12)
@pytest.mark.parametrize("seed", range(40))
def test_records_where_a_loop_computes_its_addresses(seed: int) -> None:
    """A loop of vc sets its pointers in each pass, in one block or in two that jump to each other.

    It reads its own records, and writes over them, or it works beside them.
    """
    chance = random.Random(seed)
    lines = []
    for _ in range(3):
        at = DATA["vc"] + 16 * chance.randrange(-20, 100)
        pointer = chance.choice(("s2", "s3"))
        move = chance.choice((f"li {pointer}, {at:#x}", "addi s3, s2, 20", "mv s2, s1"))
        access = chance.choice(("lw t0", "sw t2", "lbu t0", "sb t2", "vld vr1", "vst vr1"))
        lines += [move, f"{access}, {16 * chance.randrange(4)}({pointer})"]
    if chance.random() < 0.5:
        lines.insert(2 * chance.randrange(1, 3), "j second\n nop\nsecond:")
    if chance.random() < 0.3:
        lines.append("addi s1, s1, 16")
    body = [f"li s2, {DATA['vc']:#x}", "mv s3, s2", "loop:", *lines]
    devices = devices_of(
        "vc", "\n".join([*body, "add t2, t2, t0", "addi s0, s0, -1", "bnez s0, loop"])
    )
    num = chance.choice((1, 7, 31, 50))
    area = DATA["vc"] + 4 * chance.choice((-400, 0, 200, 4000))
    for device in devices[:2]:
        configure_trace(device, "vc", 1, {"begin": 0, "num": num, "step": num, "overhead": 4 * num})
        device.cores["vc"].write_trace("trace_spill", area)
        device.cores["vc"].write_trace("trace_spill_end", area + 400 * RECORD.size)
    same_to_the_end(devices[:2], chance.choice(((100_000,), (701, 4096))))


@pytest.mark.parametrize("core", CORE_MODULES)
def test_groups_without_an_area(core: str) -> None:
    """Without an area, the registers keep the last record of each group."""
    devices = devices_of(core, LOOPS["memory"])
    p = {"begin": 0, "num": 50, "step": 50, "overhead": 200, "loops": 0}
    for device in devices[:2]:
        configure_trace(device, core, 1, p)
        device.cores[core].write_trace("trace_spill_end", 0)
    same_to_the_end(devices[:2], (100_000,))
    assert crossing(devices[1], core)
    assert spilled_records(devices[1], core) == []
