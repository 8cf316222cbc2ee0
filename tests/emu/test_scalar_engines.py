"""cp has the same state with listeners (plain execution) and without them (fast execution).

Each instruction changes only what its row of the table says.
"""

from __future__ import annotations

import random

import pytest

from macaw.emu.scalar.runs import ACTS, ENDS
from macaw.isa import cp
from macaw.isa.codec import encode
from macaw.isa.kinds import Immediate
from tests.emu.cp_machine import TEXT, code, machine, processor, register
from tests.emu.random_code import EDGES, random_program
from tests.emu.toys import EXTERNAL, UNIT, describe, toy
from tests.fuzzing import tries

pytestmark = pytest.mark.once


def noticed(device):
    """A list of each event that cp announces; with a listener, cp executes plainly."""
    events = []
    device.listen(lambda event: events.append((event.kind, event.time, dict(event.values))), ["cp"])
    return events


@pytest.mark.few(6)
@pytest.mark.parametrize("seed", range(12))
def test_random_programs_stop_in_the_same_state_at_every_cycle(seed):
    chance = random.Random(seed)
    base = chance.choice((0x40000, UNIT, EXTERNAL, TEXT + 0x800))
    made = random_program(chance, base, 60, 3)
    changes = {"cp__divider": chance.choice((1, 1, 3)), "cp__local_cycles": chance.randint(1, 4)}
    fast, plain, sliced = (
        machine(made.text, data=((base, made.data),), **changes) for _ in range(3)
    )
    events = noticed(plain)
    while True:
        until = sliced.cycle + chance.choice((1, 2, 3, 7, 50))
        stops = [device.run(until=until) for device in (plain, sliced)]
        assert stops[0] == stops[1]
        assert plain.hash() == sliced.hash()
        if stops[0].reason == "exit":
            break
    assert fast.run() == stops[0]
    assert fast.hash() == plain.hash()
    assert fast.counters() == plain.counters() == sliced.counters()
    assert sum(kind == "instruction" for kind, _, _ in events) == processor(fast).retired


@pytest.mark.parametrize("seed", range(4))
def test_with_a_neighbour_that_contends(seed):
    """cp loses the same cycles in both ways of execution to a toy core that uses the same banks."""
    chance = random.Random(seed)
    script = [("load", UNIT + 8 * chance.randrange(64), 4) for _ in range(600)] + [("end",)]
    made = random_program(chance, UNIT, 60, 3)
    devices = [machine(made.text, toy(5, script), data=((UNIT, made.data),)) for _ in range(2)]
    noticed(devices[0])
    first, second = (device.run() for device in devices)
    assert first == second
    assert devices[0].hash() == devices[1].hash()


def test_snapshots_at_any_cycle_continue_alike():
    chance = random.Random(7)
    made = random_program(chance, UNIT, 40, 3)
    device = machine(made.text, data=((UNIT, made.data),))
    whole = machine(made.text, data=((UNIT, made.data),))
    stop = whole.run()
    for until in range(1, stop.cycle, 41):
        device.run(until=until)
        held = device.snapshot()
        assert device.run() == stop
        assert device.hash() == whole.hash()
        device.restore(held)
        assert device.cycle == until


def test_a_step_is_one_instruction():
    device = machine("addi a0, zero, 1\naddi a0, a0, 1\naddi a0, a0, 1\n")
    for count in (1, 2, 3):
        stop = device.step_core("cp")
        assert (stop.reason, stop.address) == ("step", TEXT + 4 * count)
        assert (register(device, "a0"), processor(device).retired) == (count, count)


# What a row says that it reads and writes

UNWRITTEN = {"time", "retired", "running", "waiting", "waited", "pc"}


def prepared(row, values, chance):
    """A device before an instruction, with random registers; bases have valid addresses."""
    word = encode(row, values).to_bytes(4, "little")
    device = machine(word + code("ebreak"), data=((0x40000, chance.randbytes(4096)),))
    hart = processor(device)
    hart.x[1:32] = [
        chance.choice(EDGES) if chance.random() < 0.5 else chance.getrandbits(32) for _ in range(31)
    ]
    if row.family in ("load", "store"):
        hart.x[values["rs1"]] = 0x40400
        if not values["rs1"]:
            hart.x[0] = 0
    if row.mnemonic == "jalr":
        hart.x[values["rs1"]] &= ~3
    return device


def declared(row, values, words):
    """The register numbers of the operands that `words` names."""
    return {values[name] for name in words.split() if name in ("rd", "rs1", "rs2")}


def random_values(row, chance):
    found = {}
    for operand in row.operands:
        if isinstance(operand.kind, Immediate):
            span = operand.kind.high // 4 if operand.name == "target" else 100
            found[operand.name] = chance.randrange(0, min(span, operand.kind.high // 4)) * 4
        else:
            found[operand.name] = chance.randrange(1, 32)
    return found


@pytest.mark.parametrize(
    "row",
    [row for row in cp.CORE.instructions if row.family in ACTS | ENDS],
    ids=lambda row: row.mnemonic,
)
def test_a_row_reads_and_writes_what_it_says(row):
    chance = random.Random(row.mnemonic)
    for _ in range(tries(15)):
        values = random_values(row, chance)
        device = prepared(row, values, chance)
        hart = processor(device)
        before = device.snapshot()
        device.step_core("cp")
        changes = device.diff(before)
        written = declared(row, values, row.writes)
        for name, change in changes:
            if name == "memory":
                assert "memory" in row.writes.split()
                assert change.field == "local"
            elif name == "cp" and change.field == "x":
                assert change.at[0] in written
            else:
                assert change.field in UNWRITTEN | {"cycle"}
        if "pc" not in row.writes.split():
            assert hart.pc == TEXT + 4
        after = device.snapshot()

        # Registers that are not read may hold anything.
        read = declared(row, values, row.reads)
        other = next(n for n in range(1, 32) if n not in read | written)
        device.restore(before)
        hart.x[other] ^= 0x5A5A5A5A
        device.step_core("cp")
        changed = {(name, change.field, change.at) for name, change in device.diff(after)}
        assert changed <= {("cp", "x", (other,))}


@pytest.mark.parametrize(
    "row",
    [row for row in cp.CORE.instructions if row.mnemonic in ("csrrs", "csrrc", "csrrsi", "csrrci")],
    ids=lambda row: row.mnemonic,
)
def test_reading_a_csr_writes_rd_alone(row):
    second = "uimm" if row.mnemonic.endswith("i") else "rs1"
    values = {"rd": 9, "csr": 0xC00, second: 0}
    device = prepared(row, values, random.Random(1))
    before = device.snapshot()
    device.step_core("cp")
    assert {(name, change.field, change.at) for name, change in device.diff(before)} <= {
        ("cp", "x", (9,)),
        *(("cp", field, ()) for field in UNWRITTEN),
        ("device", "cycle", ()),
    }


# Code that changes


def test_a_store_into_code_is_seen_at_once():
    """If a store changes the next instruction, cp executes the changed instruction."""
    new = int.from_bytes(code("addi a0, a0, 100"), "little")
    source = f"""
        lui   t0, {(new + 0x800) >> 12 & 0xFFFFF}
        addi  t0, t0, {(new & 0xFFF ^ 0x800) - 0x800}
        lui   t1, {TEXT >> 12}
        addi  t2, zero, 2
        sw    t0, 20(t1)
        addi  a0, a0, 1       # at 20
        addi  t2, t2, -1
        bne   t2, zero, -8
        ebreak
    """
    for plain in (False, True):
        device = machine(source)
        if plain:
            noticed(device)
        assert device.run().reason == "breakpoint"
        assert register(device, "a0") == 200


def test_data_beside_code_in_a_page_works():
    source = """
        lui   t1, 16
        addi  t2, zero, 50
        lw    a0, 256(t1)
        addi  a0, a0, 3
        sw    a0, 256(t1)
        addi  t2, t2, -1
        bne   t2, zero, -16
        ebreak
    """
    device = machine(source)
    device.run()
    assert device.memory.peek(TEXT + 256, 4) == (150).to_bytes(4, "little")
    assert len(processor(device).code.runs) <= 3


def test_the_dma_may_write_code():
    """Code that a transfer has overwritten is executed in its new form."""
    place = 0x20000
    source = f"""
        lui   s0, {place >> 12}
        lui   s1, 0x30
        jalr  ra, 0(s0)
        dma.copy t0, s1
        dma.wait t0
        jalr  ra, 0(s0)
        ebreak
    """
    one, two = code("addi a0, a0, 1\njalr zero, 0(ra)"), code("addi a0, a0, 16\njalr zero, 0(ra)")
    transfer = describe(place, EXTERNAL, 8)
    device = machine(source, data=((place, one), (EXTERNAL, two), (0x30000, transfer)))
    assert device.run().reason == "breakpoint"
    assert register(device, "a0") == 17


def test_a_restore_brings_the_old_code_back():
    device = machine("addi a0, a0, 1\nebreak")
    held = device.snapshot()
    device.run()
    device.restore(held)
    device.memory.poke(TEXT, code("addi a0, a0, 7"))
    device.run()
    assert register(device, "a0") == 7
    device.restore(held)
    device.run()
    assert register(device, "a0") == 1


def test_code_may_lie_in_external_and_on_chip_memory():
    for base in (EXTERNAL + 0x100, UNIT + 0x40):
        there = code("addi a0, a0, 5\njalr zero, 0(ra)")
        upper = base >> 12
        source = f"lui s0, {upper}\njalr ra, {base & 0xFFF}(s0)\nebreak"
        device = machine(source, data=((base, there),))
        device.run()
        assert register(device, "a0") == 5
        assert processor(device).time == 1 + 2 + 1 + 2 + 1  # fetching costs nothing


def test_a_run_ends_at_the_page_and_at_its_greatest_length():
    count = 1100  # over a page of 1024 words, and over 64
    device = machine(code("addi a0, a0, 1") * count + code("ebreak"))
    device.run()
    assert register(device, "a0") == count
    assert all(run.length <= 64 for run in processor(device).code.runs.values())
    assert TEXT + 4096 in processor(device).code.runs
