"""Operations that cp starts by number (seed 004 ¶46): timing, registers, waits, faults."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macaw
from macaw.asm.assembler import Source, assemble
from macaw.asm.disassembler import disassemble
from macaw.emu.device import Device
from macaw.emu.engines import ENGINES
from macaw.isa import config
from macaw.isa.cp import CORE as CP
from macaw.isa.fim import CIRCUITS
from macaw.isa.fim_circuit import ARRANGEMENT_NAMES, FUNCTION_NAMES, OPERATIONS
from macaw.isa.fim_moves import MOVES
from tests.emu.fim.engine_pairs import AUTO_TRACES
from tests.emu.fim.machine import Machine
from tests.emu.trace_witness import configure, spilled

pytestmark = pytest.mark.once

END = """
        li      a0, 0
        li      a7, 93
        ecall
"""
SETUP = 6  # instructions of `store` and two more
BASE, BANK = 0x4000_0000, 0x1_0000  # of tiny: 64 rows of 1024 bytes a bank
REGISTERS = {row.name: 0x2000_8000 + row.address for row in CIRCUITS}


def store(name, value):
    return [f"li t5, {REGISTERS[name]:#x}", f"li t6, {value}", "sw t6, 0(t5)"]


def send(number, address, mask):
    return [f"li t5, {address:#x}", f"li t6, {mask}", f"fim.send {number}, t5, t6"]


def started(lines, engine="fast", island=(), changes=()):
    text = "\n".join(["        .device tiny", "        .core cp", "_start:", *lines, END, *island])
    program = assemble(Source(text, "s.s"))
    device = Device(config.load("tiny").changed(dict(changes)), engine=engine)
    device.load(program)
    return device, program


def run(lines, engine="fast", island=(), data=None):
    device, _ = started(lines, engine, island)
    for bank, row, column, values in data or ():
        put(device, bank, row, column, values)
    stop = device.run(1_000_000)
    assert stop.reason == "exit", stop.message
    return device


def put(device, bank, row, column, values):
    device.memory.poke(BASE + bank * BANK + row * 1024 + column * 32, values.tobytes())


def get(device, bank, row, column, count=16):
    data = device.memory.peek(BASE + bank * BANK + row * 1024 + column * 32, 2 * count)
    return np.frombuffer(data, np.float16)


@pytest.mark.parametrize("engine", ENGINES)
def test_commands_by_hand(engine):
    """Operations of the host take the cycles calculated here (seed 004 ¶46, ¶60).

    The first operation opens the row and reads it 14 cycles (tRCDRD) later. Each next column comes
    tCCDL later; the product is complete 3 cycles after its start. cp goes on in the cycle after
    each command.
    """
    lines = [*store("op", FUNCTION_NAMES.index("mul")), "lui s0, 0x40000", "addi s1, s0, 32",
             "fim.send 2, s0, zero", "fim.send 6, s0, zero", "fim.send 4, s1, zero", "rdcycle s2"]  # fmt: skip
    device, _ = started(lines, engine)
    put(device, 0, 0, 0, np.arange(16, dtype=np.float16))
    times = []
    device.listen(lambda event: times.append((event.kind, event.time)), ["cp"])
    assert device.run(1000).reason == "exit"
    begins = [time for kind, time in times if kind == "instruction"]
    at = begins[SETUP]
    assert [time - at for time in begins[SETUP:]][:4] == [0, 14 + 1, 18 + 1, 22 + 1]
    assert get(device, 0, 0, 1).tolist() == [float(x * x) for x in range(16)]


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("engine", ENGINES)
def test_each_number_does_what_its_word_does(number, engine):
    """An operation sent by number does what `fim` does in a block (seed 004 ¶46, ¶47)."""
    random = np.random.default_rng(number)
    row = random.normal(size=512).astype(np.float16)
    column = 3 if OPERATIONS[number].has_column else 0
    words = ["fim 0, 1", "fim 2, 2", "fim 6, 5", "mmr rz_slot, 0", f"fim {number}, {column}"]
    block = Machine([".block banks=0", "mmr op, sub", "act 0", *words, "end"], engine=engine)
    block.put(0, 0, 0, row)
    block.done()
    at = BASE + 32 * 3
    sent = run(
        [*store("op", FUNCTION_NAMES.index("sub")), *send(0, BASE + 32, 0), *send(2, BASE + 64, 0),
         *send(6, BASE + 160, 0), *store("rz_slot", 0), *send(number, at, 0)],
        engine, data=[(0, 0, 0, row)],
    )  # fmt: skip
    island = sent.cores["fim[0]"]
    sent.sync()
    for name in ("rop", "gio", "rz"):
        np.testing.assert_array_equal(
            getattr(island.state, name)[0], getattr(block.island.state, name)[0], MOVES[number]
        )
    np.testing.assert_array_equal(get(sent, 0, 0, 0, 512), block.get(0, 0, 0, 512))


@pytest.mark.parametrize("engine", ENGINES)
def test_banks_of_a_mask_do_it_in_lock_step(engine):
    data = [(bank, 2, 0, np.full(16, bank + 1, np.float16)) for bank in range(4)]
    device = run(send(0, BASE + 2 * 1024, 0b1010), engine, data=data)
    device.sync()
    island = device.cores["fim[0]"]
    assert island.state.gio.view(np.float16)[:, 0].tolist() == [0, 2, 0, 4]
    counts = island.counters()
    assert (counts["operations"], counts["activations"], counts["instructions"]) == (2, 2, 1)
    assert island.dram.columns[1] == island.dram.columns[3]


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_sent_runs_on_and_core_wait_waits_for_it(engine):
    """cp goes on one cycle after the command, and `core.wait` waits for the result.

    The function vssqrt takes longer than a command of cp.
    """
    lines = [*store("op", FUNCTION_NAMES.index("vssqrt")), "li s0, 0x40000000", "fim.send 0, s0, zero",
             "fim.send 7, s0, zero", "rdcycle s1", "li a0, 256", "core.wait a0", "rdcycle s2"]  # fmt: skip
    device = run(lines, engine)
    hart = device.by_number[0]
    device.sync()
    assert 10 <= hart.x[18] - hart.x[9] <= 14
    assert not device.cores["fim[0]"].running


BLOCK = [
    "        .core fim, island=0",
    "blocks: .block banks=1",
    "mmr op, relu",
    "mmr rz_slot, 1",
    "loop 50",
    "mmr rz_step, 0",
    "endloop",
    "end",
]
START = ["li a0, 8", "la a1, blocks", "core.start a0, a1"]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_number_waits_for_the_block_of_its_bank_and_not_for_another(engine):
    """An operation waits for a block in its own bank, but not for one in another (seed 004 ¶60)."""
    lines = [*START, *send(0, BASE, 0b0001), "rdcycle s1", *send(0, BASE, 0b0010), "rdcycle s2"]
    device = run(lines, engine, BLOCK)
    device.sync()
    hart = device.by_number[0]
    assert hart.x[9] < 60 < 100 < hart.x[18]


@pytest.mark.parametrize("engine", ENGINES)
def test_registers_that_a_block_leaves_are_those_of_what_is_sent_then(engine):
    """An operation uses the registers `op` and `rz_slot` that a block has left (seed 004 ¶47)."""
    data = [(1, 0, 0, np.array([-1, 2] * 8, np.float16))]
    lines = [*START, *send(2, BASE, 0b0010), *send(7, BASE, 0b0010)]
    device = run(lines, engine, BLOCK, data)
    device.sync()
    rz = device.cores["fim[0]"].state.rz[1].view(np.float16)
    assert rz[16:32].tolist() == [0, 2] * 8


@pytest.mark.parametrize("engine", ENGINES)
def test_circuits_whose_registers_differ_do_it_one_after_the_other(engine):
    """Circuits whose registers differ in value do an operation in turn (seed 004 ¶47)."""
    data = [(bank, 0, 0, np.array([-1, 2] * 8, np.float16)) for bank in range(2)]
    lines = [*START, *send(2, BASE, 0b0011), *send(7, BASE, 0b0011)]
    device = run(lines, engine, BLOCK, data)
    device.sync()
    rz = device.cores["fim[0]"].state.rz.view(np.float16)
    assert rz[1][16:32].tolist() == [0, 2] * 8  # relu into slice 1
    assert rz[0][:16].tolist() == [-1, 2] * 8  # add of gio, which is 0, into slice 0


@pytest.mark.parametrize("engine", ENGINES)
def test_a_store_to_the_registers_is_of_circuits_without_a_block(engine):
    """A store to registers changes them only in circuits in which no block runs (seed 004 ¶47)."""
    lines = [*store("op", 5), *START, *store("op", 9), f"li t5, {REGISTERS['op']:#x}", "lw s1, 0(t5)",
             "li a0, 256", "core.wait a0"]  # fmt: skip
    device = run(lines, engine, BLOCK)
    device.sync()
    ops = [circuit.registers[0] for circuit in device.cores["fim[0]"].circuits]
    assert ops == [9, FUNCTION_NAMES.index("relu"), 9, 9]
    assert device.by_number[0].x[9] == 9


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (send(0, BASE, 0b10000), "bad mask .*the mask 0x10 of banks has bit 4 set: fim\\[0\\] has banks 0 to 3"),
        (send(0, 0x8000_0000, 0), "bad mask .*operation 0 sent to 0x80000000, where no core takes any"),
        (send(0, 0x3080_0000, 0), "bad mask .*operation 0 sent to words of fim\\[0\\], which takes none"),
        (send(0, 0x5000_0000, 0), "out-of-range access .*an operation of a byte at 0x50000000"),
        ([*store("op", 12), *send(7, BASE, 0)], "not available .*island 0 has no tanh"),
        ([*store("rz_slot", 9), *send(5, BASE, 0)], "not available .*slice 9 of Rz"),
        (store("op", 13), "out-of-range access .*the register op of fim\\[0\\] takes 0 to 12, not 13"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("engine", ENGINES)
def test_faults_are_those_of_cps_line(lines, message, engine):
    few = {"fim.island.0.functions": "add mul", "fim.island.0.rz_slices": 2}
    device, _ = started(lines, engine, changes=few)
    stop = device.run(1000)
    assert stop.reason == "fault"
    assert stop.fault.core == "cp"
    assert re.search(message, str(stop.fault)), str(stop.fault)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_lock_guards_columns_against_what_is_sent_too(engine):
    """A lock also guards columns against writes of the host's operations (seed 004 ¶50)."""
    block = ["        .core fim, island=0", "blocks: .block banks=1", "mmr b0_low, 0x40000000",
             "mmr b0_high, 0x40000040", "lock", "end"]  # fmt: skip
    device, _ = started([*START, "li a0, 256", "core.wait a0", *send(1, BASE, 0)], engine, block)
    stop = device.run(1000)
    assert "lock violation" in str(stop.fault)
    assert "what the host sends writes 0x40000000, a column of buffer 0: block 0 has its lock" in str(stop.fault)  # fmt: skip


def test_ten_is_no_number():
    with pytest.raises(macaw.AssemblyError, match="n: 10 is out of range, 0 to 9"):
        started(["fim.send 10, a0, a1"])


def test_there_and_back():
    _, program = started(["fim.send 7, a0, a1"])
    text = disassemble(program)
    assert "fim.send 7, a0, a1" in text
    again = assemble(Source(text, "again.s"))
    assert [x.data for x in again.sections] == [x.data for x in program.sections]


def test_a_word_whose_number_is_past_9_is_no_instruction():
    row = next(row for row in CP.instructions if row.mnemonic == "fim.send")
    assert row.source == "seed 004 ¶46"
    device, _ = started([f".word {0x0B | 7 << 12 | 12 << 7:#x}"])
    stop = device.run(100)
    assert stop.fault is not None
    assert stop.fault.kind in ("illegal instruction", "bad mask")


# --- both engines, and blocks beside ---

numbers = st.integers(0, 9)
words = st.one_of(
    st.tuples(st.just("send"), numbers, st.integers(0, 31), st.integers(0, 3), st.integers(0, 15)),
    st.tuples(st.just("store"), st.sampled_from(sorted(REGISTERS)), st.integers(0, 15)),
    st.tuples(st.just("load"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("wait")),
    st.tuples(st.just("start")),
)


def source(items):
    lines = []
    for kind, *rest in items:
        match kind:
            case "send":
                number, column, row, mask = rest
                lines += send(number, BASE + row * 1024 + column * 32, mask)
            case "store":
                name, value = rest
                greatest = {"op": 8, "arrange": 1, "transpose": 2, "accumulate": 1, "format": 1}
                lines += store(name, value % (greatest.get(name, 1) + 1))
            case "load":
                bank, row = rest
                lines += [
                    f"li t5, {BASE + bank * BANK + row * 1024:#x}",
                    "lw s1, 0(t5)",
                    "add s2, s2, s1",
                ]
            case "wait":
                lines += ["li a0, 256", "core.wait a0"]
            case "start":
                lines += START
    return lines


@settings(max_examples=40, deadline=None)
@given(
    st.lists(words, max_size=14),
    st.lists(st.integers(1, 120), max_size=4),
    st.integers(0, 99),
    st.one_of(st.none(), AUTO_TRACES),
)
def test_engines_agree(items, pauses, seed, traced):
    """Engines agree in state and records at any cycle; cp may start a block on bank 1."""
    assert ARRANGEMENT_NAMES[1] == "dot"
    block = [
        *BLOCK[:2],
        "mmr op, mul",
        "act 0",
        "loop 6",
        "rz <- rop * iosa[0:9]",
        "endloop",
        "end",
    ]
    devices = [started(source(items), engine, block)[0] for engine in ENGINES]
    data = np.random.default_rng(seed).normal(size=(4, 4, 512)).astype(np.float16)
    for device in devices:
        for bank in range(4):
            for row in range(4):
                put(device, bank, row, 0, data[bank, row])
        if traced is not None:
            configure(device, "fim[0]", traced)
    for pause in [*pauses, 100_000]:
        stops = [device.run(pause) for device in devices]
        assert [(x.reason, x.message, x.cycle) for x in stops[:1]] == [
            (x.reason, x.message, x.cycle) for x in stops[1:]
        ]
        assert devices[0].diff(devices[1].snapshot()) == []
        if stops[0].reason != "cycle limit":
            break


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_sent_is_recorded_as_a_word(engine):
    """Two operations of the host are recorded as two words of a column and 16 products each."""
    device, _ = started(
        [*store("op", 2), "lui s0, 0x40000", "fim.send 2, s0, zero", "fim.send 6, s0, zero",
         "li a0, 256", "core.wait a0"], engine,
    )  # fmt: skip
    configure(device, "fim[0]", {"mode": 1, "begin": 0, "num": 2, "step": 99})
    assert device.run(1000).reason == "exit"
    (record,) = spilled(device, "fim[0]")
    assert (record["instructions"], record["e_rd"], record["e_cu"]) == (2, 2, 16)
    assert record["t_cu_end"] - record["t_cu_begin"] == 3


def test_a_snapshot_keeps_what_is_sent():
    lines = [
        *store("op", FUNCTION_NAMES.index("vssqrt")),
        *send(7, BASE, 0),
        "li a0, 256",
        "core.wait a0",
    ]
    device, _ = started(lines)
    while not device.cores["fim[0]"].running:
        device.run(device.cycle + 1)
    saved = device.snapshot()
    first = device.run().cycle, device.hash()
    device.restore(saved)
    assert (device.run().cycle, device.hash()) == first
