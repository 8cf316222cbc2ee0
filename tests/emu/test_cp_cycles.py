"""The cycles that instructions of cp take, against calculations by hand; CSRs, ecall, faults."""

from __future__ import annotations

import pytest

from macaw.emu.waits import NEVER
from macaw.isa import cp
from tests.emu.cp_machine import TEXT, machine, processor, register
from tests.emu.toys import EXTERNAL, UNIT, toy


def cycles(source, *others, **changes):
    """The device cycles from the start to the end of the source, before an ebreak."""
    device = machine(source + "\nebreak", *others, **changes)
    stop = device.run()
    assert stop.reason == "breakpoint", stop
    return stop.cycle - processor(device).timing.alu


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("addi a0, zero, 1", 1),
        ("addi a0, zero, 1\nadd a0, a0, a0\nlui a1, 5\nauipc a2, 1", 4),
        ("mul a0, a1, a2", 3),
        ("div a0, a1, a2\nrem a0, a1, a2", 40),
        ("beq a0, a1, 4", 2),  # taken, although its target is the next instruction
        ("bne a0, a1, 8", 1),  # not taken
        ("beq zero, zero, 8\ndiv a0, a0, a0", 2),
        ("jal ra, 4", 2),
        ("auipc a0, 0\njalr ra, 8(a0)", 1 + 2),
        # A loop of three rounds: 1, then addi and bne: 1 + 2 twice, 1 + 1 at the end.
        ("addi t0, zero, 3\naddi t0, t0, -1\nbne t0, zero, -4", 1 + 3 + 3 + 2),
        # Local memory: a load 2, a store 1; the first store to a page goes the plain way.
        ("lui a0, 0x40\nlw a1, 0(a0)", 1 + 2),
        ("lui a0, 0x40\nsw a1, 0(a0)\nsw a1, 4(a0)\nlb a1, 3(a0)", 1 + 1 + 1 + 2),
        # On-chip memory: the grant at the end of the cycle and 2 of latency; a store 1.
        (f"lui a0, {UNIT >> 12:#x}\nlw a1, 0(a0)", 1 + 2),
        (f"lui a0, {UNIT >> 12:#x}\nsw a1, 0(a0)", 1 + 1),
        # External memory: 20 of latency and a beat, there and back.
        (f"lui a0, {EXTERNAL >> 12:#x}\nlw a1, 0(a0)", 1 + 21),
        (f"lui a0, {EXTERNAL >> 12:#x}\nsw a1, 0(a0)\nlw a2, 0(a0)", 1 + 21 + 21),
        # Registers of the cores: as on-chip memory.
        ("lui a0, 0x20000\nlw a1, 0(a0)", 1 + 2),
        ("csrrs a0, cycle, zero\ncsrrs a1, instret, zero", 2),
        ("fence rw, rw\nfence.tso", 2),
        ("trace_begin 0\ntrace_end 0", 2),
    ],
)
def test_costs(source, expected):
    assert cycles(source) == expected


def test_costs_come_from_the_configuration():
    changes = {
        "cp__alu_cycles": 2,
        "cp__mul_cycles": 5,
        "cp__div_cycles": 7,
        "cp__branch_taken_cycles": 11,
        "cp__local_cycles": 13,
        "cp__csr_cycles": 17,
    }
    source = "mul a0, a0, a0\ndiv a0, a0, a0\njal ra, 4\nlw a0, 0(zero)\ncsrrs a0, cycle, zero\nnop"
    source = source.replace("nop", "addi a0, a0, 0")
    assert cycles(source, **changes) == 5 + 7 + 11 + 13 + 17 + 2


def test_a_divided_clock():
    # 3 device cycles to a cycle; the external answer at 3 + 21 = 24 is on the clock already.
    source = f"lui a0, {EXTERNAL >> 12:#x}\nlw a1, 0(a0)\naddi a1, a1, 1"
    assert cycles(source, cp__divider=3) == 3 + 21 + 3
    # On-chip: asked for at 3, granted at its end, there at 5, seen at 6.
    source = f"lui a0, {UNIT >> 12:#x}\nlw a1, 0(a0)\naddi a1, a1, 1"
    assert cycles(source, cp__divider=3) == 6 + 3


def test_a_lost_bank_costs_a_cycle():
    # The toy loads from bank 0 in each cycle from 0 on; it was served last, so cp goes first at 1,
    # and then waits its turn: both have been served once more when it asks again at 3.
    load = f"lui a0, {UNIT >> 12:#x}\nlw a1, 0(a0)\nlw a1, 0(a0)"
    alone = cycles(load)
    device = machine(load + "\nebreak", toy(5, [("load", UNIT, 4)] * 8 + [("end",)]))
    stop = device.run()
    blocked = device.counters()["cp"]["reads_blocked"]
    assert stop.cycle - 1 == alone + blocked


def test_instructions_and_waits_are_counted():
    device = machine("lui a0, 0x40\ncore.wait a1\naddi a1, zero, 1\nebreak")
    device.run()
    assert device.counters()["cp"]["instructions"] == 4
    assert device.counters()["cp"]["cycles_waiting"] == 0
    assert set(device.counters()["cp"]) == {counter.name for counter in cp.COUNTERS}


# Control and status registers


def test_cycle_and_instret_are_those_of_the_instructions_begin():
    device = machine("""
        mul   a0, a0, a0
        csrrs a0, cycle, zero
        csrrs a1, instret, zero
        csrrs a2, time, zero
        csrrs a3, cycleh, zero
        csrrs a4, timeh, zero
        csrrs a5, instreth, zero
        csrrs a6, mhartid, zero
        ebreak
    """)
    device.run()
    found = [register(device, f"a{n}") for n in range(7)]
    assert found == [3, 2, 5, 0, 0, 0, 0]


def test_high_halves():
    device = machine(
        "csrrs a0, cycleh, zero\ncsrrs a1, cycle, zero\ncsrrs a2, instreth, zero\nebreak"
    )
    hart = processor(device)
    hart.time = (7 << 32) + 5
    hart.retired = 9 << 32
    device.run()
    assert [register(device, f"a{n}") for n in range(3)] == [7, 6, 9]


def test_cycle_counts_the_cores_own_cycles():
    device = machine("mul a0, a0, a0\ncsrrs a0, cycle, zero\nebreak", cp__divider=4)
    device.run()
    assert register(device, "a0") == 3


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("csrrw a0, cycle, a1", "the control and status register cycle is read-only"),
        ("csrrw zero, cycle, zero", "the control and status register cycle is read-only"),
        ("csrrs a0, cycle, a1", "the control and status register cycle is read-only"),
        ("csrrc a0, instret, a1", "the control and status register instret is read-only"),
        ("csrrwi a0, mhartid, 0", "the control and status register mhartid is read-only"),
        ("csrrsi a0, time, 1", "the control and status register time is read-only"),
        ("csrrci a0, time, 1", "the control and status register time is read-only"),
        ("csrrs a0, 0x300, zero", "the control and status register 0x300 does not exist"),
        ("csrrwi zero, 0x7bf, 1", "the control and status register 0x7bf does not exist"),
    ],
)
def test_registers_that_cannot_be(source, message):
    device = machine(f"addi a0, zero, 77\n{source}")
    stop = device.run()
    assert stop.reason == "fault"
    assert str(stop.fault) == f"cp: illegal instruction at 0x00010004, cycle 1: {message}"
    assert register(device, "a0") == 77


@pytest.mark.parametrize(
    "source",
    [
        "csrrs a0, cycle, zero",
        "csrrc a0, cycle, zero",
        "csrrsi a0, cycle, 0",
        "csrrci a0, cycle, 0",
    ],
)
def test_reading_does_not_write(source):
    assert machine(f"{source}\nebreak").run().reason == "breakpoint"


# ecall and ebreak


def test_exit():
    device = machine("addi a0, zero, -3\naddi a7, zero, 93\necall")
    stop = device.run()
    assert (stop.reason, stop.exit_code, stop.cycle) == ("exit", -3, 3)
    assert (stop.core, stop.address) == ("cp", TEXT + 8)
    assert str(stop) == "exit with code -3"
    assert (processor(device).time, processor(device).running) == (NEVER, False)
    assert processor(device).next_address is None
    assert device.run() is stop


def test_write():
    source = """
        addi a0, zero, {file}
        lui  a1, 0x40
        addi a2, zero, 5
        addi a7, zero, 64
        ecall
        ebreak
    """
    for number in (1, 2):
        device = machine(source.format(file=number), data=((0x40000, b"hello, world"),))
        out: list[bytes] = []
        err: list[bytes] = []
        device.stdout, device.stderr = out.append, err.append
        assert device.run().reason == "breakpoint"
        assert (out, err) == (([b"hello"], []) if number == 1 else ([], [b"hello"]))
        assert register(device, "a0") == 5


@pytest.mark.parametrize(
    ("number", "file", "message"),
    [
        (64, 3, "ecall writes to file 3, not 1 or 2; a7 is 93 (exit) or 64 (write)"),
        (64, -1, "ecall writes to file -1, not 1 or 2; a7 is 93 (exit) or 64 (write)"),
        (63, 0, "ecall asks for call 63; a7 is 93 (exit) or 64 (write)"),
    ],
)
def test_unknown_calls(number, file, message):
    stop = machine(f"addi a0, zero, {file}\naddi a7, zero, {number}\necall").run()
    assert str(stop.fault) == f"cp: unknown call at 0x00010008, cycle 2: {message}"


def test_write_of_what_is_not_there():
    stop = machine(
        "addi a0, zero, 1\nlui a1, 0x30000\naddi a2, zero, 4\naddi a7, zero, 64\necall"
    ).run()
    assert stop.fault is not None
    assert stop.fault.kind == "out-of-range access"
    assert stop.fault.address == TEXT + 16


def test_ebreak_stops_behind_itself():
    device = machine("addi a0, zero, 1\nebreak\naddi a0, a0, 1\nebreak")
    stop = device.run()
    assert (stop.reason, stop.core, stop.address, stop.cycle) == ("breakpoint", "cp", TEXT + 4, 2)
    assert str(stop) == "cp: ebreak at 0x00010004"
    assert register(device, "a0") == 1
    stop = device.run()
    assert (stop.address, stop.cycle, register(device, "a0")) == (TEXT + 12, 4, 2)


# Faults leave everything as it was


@pytest.mark.parametrize(
    ("source", "kind", "message"),
    [
        ("lw a1, 2(a0)", "misaligned access", "load of 4 bytes at 0x00040002, which is no multiple of 4"),
        ("lh a1, 1(a0)", "misaligned access", "load of 2 bytes at 0x00040001, which is no multiple of 2"),
        ("sw a1, 1(a0)", "misaligned access", "store of 4 bytes at 0x00040001, which is no multiple of 4"),
        ("sh a1, 3(a0)", "misaligned access", "store of 2 bytes at 0x00040003, which is no multiple of 2"),
        ("jal ra, 6", "misaligned access", "jal to 0x0001000a, which is no multiple of 4"),
        ("jalr ra, 2(a0)", "misaligned access", "jalr to 0x00040002, which is no multiple of 4"),
        ("beq zero, zero, 6", "misaligned access", "beq to 0x0001000a, which is no multiple of 4"),
        ("lb a1, -1(zero)", "out-of-range access", "load of a byte at 0xffffffff: external memory is 0x80000000 to 0x800fffff"),
        ("lui a1, 0x100\nlw a1, 0(a1)", "out-of-range access", "load of 4 bytes at 0x00100000: local memory is 0x00000000 to 0x000fffff"),
        ("lui a1, 0x10200\nlw a1, 0(a1)", "out-of-range access", "read of 4 bytes at 0x10200000: there is no on-chip unit 2, units are 0 to 1"),
        ("lui a1, 0x30000\nsw a1, 0(a1)", "out-of-range access", "store of 4 bytes at 0x30000000: the device has no memory there"),
        ("lui a1, 0x20000\nsw a1, 0(a1)", "out-of-range access", "store of 4 bytes at 0x20000000: the register id of cp is read-only"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("plain", [False, True])
def test_faults(source, kind, message, plain):
    _, *rest = source.split("\n")
    device = machine(f"lui a0, 0x40\n{source}\nebreak")
    if plain:
        device.listen(lambda event: None, ["cp"])
    stop = device.run()
    place = TEXT + 4 + 4 * len(rest)
    assert str(stop.fault) == f"cp: {kind} at {place:#010x}, cycle {1 + len(rest)}: {message}"
    hart = processor(device)
    assert (hart.next_address, hart.time, hart.retired) == (place, 1 + len(rest), 1 + len(rest))
    assert hart.x[1] == 0


def test_a_branch_that_is_not_taken_may_have_any_target():
    assert machine("bne zero, zero, 6\nebreak").run().reason == "breakpoint"


@pytest.mark.parametrize(
    ("word", "kind", "message"),
    [
        (0, "illegal instruction", "the word 0x00000000: no instruction of cp"),
        (0xFFFFFFFF, "illegal instruction", "the word 0xffffffff: no instruction of cp"),
        (0x0000780B, "illegal instruction", "the word 0x0000780b: no instruction of cp"),
        (0x30200073, "illegal instruction", "the word 0x30200073: no instruction of cp"),
    ],
)
def test_words_that_are_no_instructions(word, kind, message):
    device = machine(word.to_bytes(4, "little"))
    stop = device.run()
    assert str(stop.fault) == f"cp: {kind} at 0x00010000, cycle 0: {message}"


def test_running_off_the_end_of_memory():
    device = machine("lui a0, 0x100\njalr ra, -4(a0)")
    stop = device.run()
    assert "no instruction of cp" in str(stop.fault)
    device = machine("lui a0, 0x30000\njalr ra, 0(a0)")
    stop = device.run()
    assert str(stop.fault) == (
        "cp: out-of-range access at 0x30000000, cycle 3: "
        "fetch of 4 bytes at 0x30000000: the device has no memory there"
    )


def test_a_start_between_instructions():
    device = machine("ebreak")
    processor(device).start(TEXT + 2, 0)
    stop = device.run()
    assert str(stop.fault) == (
        "cp: misaligned access at 0x00010002, cycle 0: "
        "fetch of an instruction at 0x00010002, which is no multiple of 4"
    )


def test_the_stack_pointer_starts_at_the_end_of_local_memory():
    assert register(machine("ebreak"), "sp") == 1 << 20
