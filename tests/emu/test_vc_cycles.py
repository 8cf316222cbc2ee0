"""Cycles of vc by hand: one issue a cycle, the scoreboard, branches, memory and its banks.

Each case gives the cycle in which the `csrr` at its end issues; the `csrr` waits for all earlier
instructions. Defaults: ALU 1, multiplication 3, division 20, vector 3, pmac 4, taken branch 2;
on-chip latency 2; external latency 20, 32 bytes a beat.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from macaw.emu.scalar.semantics import MASK
from macaw.isa import vector
from macaw.isa.codec import Decoded, describe
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.scalar import REGISTER
from tests.emu.toys import UNIT, toy
from tests.emu.vc_machine import COSTS, machine, processor

pytestmark = pytest.mark.once

DATA = EXTERNAL + 0x1000


def time_of(source, *others, **changes):
    """The cycle in which the last instruction of the source issues, and the device."""
    device = machine(
        f"{source}\n csrr t6, cycle\n li a0, 0\n li a7, 93\n ecall\n", *others, **changes
    )
    issues = []
    device.listen(
        lambda event: issues.append(event.time) if event.kind == "instruction" else None, ["vc"]
    )
    stop = device.run(max_cycles=100_000)
    assert stop.exit_code == 0, stop
    core = processor(device)
    counts = core.counters()
    # Every cycle is an issue, or is lost for one of three reasons.
    lost = counts["cycles_operands"] + counts["cycles_memory"] + counts["cycles_branches"]
    assert core.retired == len(issues)
    assert core.retired + lost == issues[-1] // core.divider + 1
    return core.x[31], device


INDEPENDENT = {
    # Twelve and more sums by hand: (source, cycle of the csrr).
    "nothing": ("", 0),
    "one a cycle": ("addi a0, zero, 1\n addi a1, zero, 1\n addi a2, zero, 1", 3),
    "a dependent sum issues in the next cycle": ("addi a0, zero, 1\n addi a0, a0, 1", 2),
    "a product takes 3": ("mul a0, a1, a2", 3),
    "two products overlap: 0 and 1, ready at 4": ("mul a0, a1, a2\n mul a3, a1, a2", 4),
    "a product of a product: 0, 3, ready at 6": ("mul a0, a1, a2\n mul a0, a0, a2", 6),
    "an independent sum goes past: 0, 1; ready at 3": ("mul a0, a1, a2\n addi a3, a3, 1", 3),
    "a division takes 20": ("divu a0, a1, a2", 20),
    "a result overtakes none of the same register: 0, 20": ("divu a0, a1, a2\n addi a0, zero, 1", 21),
    "a vector instruction takes 3": ("vadd.b vr0, vr1, vr2", 3),
    "three vectors overlap: 0, 1, 2": ("vadd.b vr0, vr1, vr2\n vadd.b vr3, vr1, vr2\n vadd.b vr4, vr1, vr2", 5),
    "pmac takes 4": ("pmac.u8 vr3, vr0, vr1, vr2", 4),
    "pmac with acc waits for a3: 0, 4": ("pmac.u8 vr3, vr0, vr1, vr2\n pmac.u8 vr3, vr0, vr1, vr2, acc", 8),
    "pmac without acc too, its result comes later: 0, 4": ("pmac.u8 vr3, vr0, vr1, vr2\n pmac.u8 vr3, vr0, vr1, vr2", 8),
    "four sums side by side: 0, 1, 2, 3": ("\n".join(f"pmac.u8 vr{n}, vr0, vr1, vr2" for n in (3, 4, 5, 6)), 7),
    "an order in a pair waits for both: li, 0; mul, 1; pmac at 4": ("li gr8, 0\n mul gr9, a1, a2\n pmac.u8 vr3, vr0, vr1, gr8", 8),
    "eight lanes wait for one: pmac at 2": ("li gr8, 0\n mul gr9, a1, a2\n pmac.u16 vr3, vr0, vr1, gr8", 6),
    "pmac.gr: 0, 4": ("pmac.gr.u8 a0, a1, a2, a3\n addi a0, a0, 1", 5),
    "a lane to a register: vector 3, then 3, then 1": ("vadd.w vr0, vr1, vr2\n vext.w a0, vr0, 0\n addi a0, a0, 1", 7),
    "a branch that falls costs 1": ("bne zero, zero, .+8\n addi a0, zero, 1", 2),
    "a taken branch costs 2": ("beq zero, zero, .+8\n addi a0, zero, 1", 2),
    "a jump costs 2, its link is there at once": ("jal ra, .+4\n addi ra, ra, 0", 3),
    "a branch waits for its operands: 0, 3 to 5": ("mul a0, a1, a2\n beq a0, a0, .+4", 5),
    "x0 is never waited for": ("mul zero, a1, a2\n addi a0, zero, 1", 2),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEPENDENT)
def test_scoreboard(name):
    """An instruction issues in each cycle, also to a busy unit, if its operands are ready.

    See seed 002 ¶45.
    """
    source, cycle = INDEPENDENT[name]
    assert time_of(source)[0] == cycle


def test_latencies_come_from_the_configuration():
    for setting, source in (
        ("vc__alu_cycles", "addi a0, zero, 1"), ("vc__mul_cycles", "mul a0, a1, a2"),
        ("vc__div_cycles", "rem a0, a1, a2"), ("vc__vector_cycles", "vsum.b vr0, vr1"),
        ("vc__pmac_cycles", "pmac.f32 vr3, vr0, vr1, vr2"), ("vc__branch_taken_cycles", "j .+4"),
        ("vc__csr_cycles", "csrr a0, cycle"), ("vc__vector_div_cycles", "vdiv.f32 vr0, vr1, vr2"),
        ("vc__vector_div_cycles", "vsqrt.f32 vr0, vr1"), ("vc__vector_div_cycles", "vexp.f32 vr0, vr1"),
    ):  # fmt: skip
        assert time_of(source, **{setting: 7})[0] == 7, setting
    assert {name.partition(".")[2] for name in COSTS} == {
        "divider", "alu_cycles", "mul_cycles", "div_cycles", "vector_cycles", "pmac_cycles",
        "branch_taken_cycles", "local_cycles", "csr_cycles", "vector_div_cycles",
    }  # fmt: skip


def test_a_divider_stretches_everything():
    """With a divider of 3, vc counts the same cycles, and the device counts three times as many."""
    source = "pmac.u8 vr3, vr0, vr1, vr2\n vadd.w vr4, vr3, vr3\n j .+4\n"
    cycles, device = time_of(source, vc__divider=3)
    assert cycles == time_of(source)[0] == 7
    assert processor(device).state.ready.max() <= 3 * (cycles + 3)


# Memory. `lui` and `addi` of an address are two instructions (0, 1), so the access issues at 2;
# units and external memory begin at round addresses, so `lui` alone does: the access is at 1.

ONCHIP, OUTSIDE = f"lui a0, {UNIT >> 12:#x}", f"lui a0, {DATA >> 12:#x}"


@pytest.mark.parametrize(
    ("source", "cycle"),
    [
        # lui 0, load 1, granted at the end of 1: usable at 3.
        (f"{ONCHIP}\n lw a1, (a0)", 3),
        # The same of 16 bytes: two banks of 8 at once.
        (f"{ONCHIP}\n vld vr0, (a0)", 3),
        # The next load issues after the grant: 1, 2, usable at 4.
        (f"{ONCHIP}\n vld vr0, (a0)\n vld vr1, 16(a0)", 4),
        # A store is there in the cycle after its grant: 1, 2.
        (f"{ONCHIP}\n vst vr0, (a0)", 2),
        # A store waits for its data: pmac 1, ready at 5, store at 5.
        (f"{ONCHIP}\n pmac.u8 vr3, vr0, vr1, vr2\n vst vr3, (a0)", 6),
        # Four words 128 bytes (all 16 banks) apart are in one bank: four cycles 2 to 5, usable at 7.
        (f"{ONCHIP}\n li a1, 128\n vlds.w vr0, a0, a1", 7),
        # Four words 8 bytes apart are in four banks: one cycle, 2, usable at 4.
        (f"{ONCHIP}\n li a1, 8\n vlds.w vr0, a0, a1", 4),
        # External: channel taken at 1, 20 cycles and a beat.
        (f"{OUTSIDE}\n lw a1, (a0)", 22),
        (f"{OUTSIDE}\n vld vr0, (a0)", 22),
        # The second load takes the channel at 2.
        (f"{OUTSIDE}\n vld vr0, (a0)\n vld vr1, 32(a0)", 23),
        # A sum of the first waits: 22; of nothing does not.
        (f"{OUTSIDE}\n lw a1, (a0)\n addi a1, a1, 1", 23),
        (f"{OUTSIDE}\n lw a1, (a0)\n addi a2, a2, 1", 22),
        # Four words, an access a cycle from 2 on: the last at 5, usable at 26.
        (f"{OUTSIDE}\n li a1, 4\n vlds.w vr0, a0, a1", 26),
        # A store is posted, but the csrr waits for it.
        (f"{OUTSIDE}\n vst vr0, (a0)", 22),
        # cp's local memory: 2.
        ("lw a1, 64(zero)", 2),
    ],
)
def test_memory(source, cycle):
    assert time_of(source)[0] == cycle


def test_a_neighbour_takes_a_bank():
    """If vc and a toy core need a bank in the same cycles, the bank serves them in turn."""
    alone, _ = time_of(f"{ONCHIP}\n vld vr0, (a0)\n vld vr1, 128(a0)")
    script = [("load", UNIT, 4) for _ in range(8)] + [("end",)]
    both, device = time_of(f"{ONCHIP}\n vld vr0, (a0)\n vld vr1, 128(a0)", toy(0, script))
    counts = device.counters()["vc"]
    assert both == alone + counts["reads_blocked"]
    assert counts["reads_blocked"] == counts["cycles_memory"] > 0


def test_a_neighbour_holds_the_channel():
    """vc waits while the external channel is occupied."""
    device = machine(
        f"{OUTSIDE}\n vld vr0, (a0)\n vld vr1, 16(a0)\n li a0, 0\n li a7, 93\n ecall\n"
    )
    device.memory.channel.free = 6
    assert device.run(max_cycles=1000).exit_code == 0
    counts = device.counters()["vc"]
    # The load at 1 waits until 6, the next one at 7 takes the channel at once.
    assert (counts["external_blocked"], counts["cycles_memory"]) == (5, 5)


@pytest.mark.parametrize("where", [UNIT, DATA, 0x40000])
def test_what_loads_and_stores_move(where):
    """Loads and stores of each size and stride move the right bytes (seed 002 ¶43)."""
    chance = random.Random(where)
    held = chance.randbytes(512)
    for size, name in ((1, "b"), (2, "h"), (4, "w"), (8, "d")):
        stride = size * chance.choice((1, 2, 3))
        source = f"""
            li a0, {where}
            li a1, {stride}
            li a2, {where + 256}
            vld vr0, 32(a0)
            vlds.{name} vr1, a0, a1
            vst vr0, -16(a2)
            vsts.{name} vr0, a2, a1
            li a0, 0
            li a7, 93
            ecall
        """
        device = machine(source, data=((where, held),))
        assert device.run(max_cycles=10_000).exit_code == 0
        core, count = processor(device), 16 // size
        assert core.vr[0].tobytes() == held[32:48]
        lanes = [held[i * stride : i * stride + size] for i in range(count)]
        assert core.vr[1].tobytes() == b"".join(lanes)
        wanted = bytearray(held)
        wanted[240:256] = held[32:48]
        for i in range(count):
            wanted[256 + i * stride : 256 + i * stride + size] = held[
                32 + i * size : 32 + (i + 1) * size
            ]
        assert device.memory.peek(where, 512) == wanted


def test_a_negative_stride_goes_back():
    data = bytes(range(64))
    source = f"li a0, {UNIT + 48}\n li a1, -4\n vlds.w vr0, a0, a1\n li a0, 0\n li a7, 93\n ecall"
    device = machine(source, data=((UNIT, data),))
    assert device.run(max_cycles=1000).exit_code == 0
    words = np.frombuffer(data, "<u4")[[12, 11, 10, 9]]
    assert processor(device).vr[0].tobytes() == words.tobytes()


def test_the_stack_pointer_starts_at_the_end_of_external_memory():
    device = machine("ebreak")
    memory = device.memory
    assert processor(device).x[2] == EXTERNAL + memory.external_bytes & MASK
    memory.locate(EXTERNAL + memory.external_bytes - 16, 16)


def test_an_exit_code_ends_the_run_and_none_ends_the_core():
    device = machine("li a0, 3\n li a7, 93\n ecall", toy(0, [("work", 500), ("end",)]))
    stop = device.run()
    assert (stop.reason, stop.exit_code, stop.core) == ("exit", 3, "vc")
    device = machine("li a7, 93\n ecall", toy(0, [("work", 500), ("end",)]))
    assert not device.run(until=100).exit_code
    assert not processor(device).running
    stop = device.run()
    assert (stop.reason, stop.exit_code, stop.core) == ("exit", 0, "")


def test_a_step_is_one_instruction_and_slices_change_nothing():
    """Stops in every cycle, or a listener, do not change the final state."""
    source = f"""
        li a0, {UNIT}
        li a1, {DATA}
        li a2, 3
    1:  vld vr0, (a0)
        vld vr1, (a1)
        pmac.s8 vr3, vr0, vr1, vr2, acc
        vst vr3, 32(a1)
        mul a3, a2, a2
        addi a2, a2, -1
        bnez a2, 1b
        li a0, 0
        li a7, 93
        ecall
    """
    # The toy ends last, so that the device's last cycle is the same.
    devices = [machine(source, toy(0, [("work", 1000), ("end",)])) for _ in range(4)]
    whole, sliced, heard, stepped = devices
    stop = whole.run()
    for until in range(1, stop.cycle + 1):
        sliced.run(until=until)
        held = sliced.snapshot()
        sliced.run(until=until + 7)
        sliced.restore(held)
    assert sliced.run().cycle == stop.cycle
    events = []
    heard.listen(lambda event: events.append(event.kind), ["vc"])
    heard.run()
    steps = 0
    while stepped.step_core("vc").reason == "step":
        steps += 1
        assert processor(stepped).retired == steps
    assert len({device.hash() for device in devices}) == 1
    assert events.count("instruction") == processor(whole).retired


def test_code_that_changes_itself():
    """If a loop changes its own instruction, vc executes the changed one in the second pass."""
    source = """
        la   a0, there
        lw   a1, new
        li   a2, 2
    there:
        addi a3, a3, 1
        sw   a1, (a0)
        addi a2, a2, -1
        bnez a2, there
        li   a0, 0
        li   a7, 93
        ecall
    new: addi a3, a3, 5
    """
    device = machine(source)
    assert device.run(max_cycles=1000).exit_code == 0
    assert processor(device).x[13] == 6


# A second model: issue times of random straight code, from its text.

LATENCIES = {"mul": 3, "mulhu": 3, "div": 20, "remu": 20, "add": 1, "xor": 1, "addi": 1, "lui": 1}


def named_registers(mnemonic, operands):
    """The registers in an instruction's text; orders of 16 lanes and 64-bit lanes are pairs."""
    found = []
    for name in operands:
        if name.startswith("vr"):
            found.append(name)
            continue
        number = REGISTER.parse(name)
        if not number and (number is None or mnemonic[0] != "v"):
            continue
        paired = mnemonic in ("pmac.u8", "pmac.s8", "vext.d", "vins.d", "vsplat.d")
        found += [f"x{number}", *([f"x{number + 1}"] if paired else [])]
    return [name for name in found if name != "x0"]


@pytest.mark.parametrize("seed", range(8))
def test_random_straight_code(seed):
    chance = random.Random(seed)
    rows = [row for row in vector.XVC if row.family != "vector memory" and row.mnemonic != "vperm"]
    compared = 0
    while compared < 100:  # whatever rows the table has, and however soon a program ends
        found, wanted = issue_times(random_code(chance, rows))
        assert found
        assert found == wanted
        compared += len(found)


def random_code(chance, rows):
    """Random lines of scalar and vector instructions without jumps and memory accesses."""
    lines = []
    for _ in range(120):
        if chance.random() < 0.4:
            name = chance.choice(list(LATENCIES))
            rd, a, b = (f"x{chance.randrange(8)}" for _ in "dab")
            last = {"addi": f"{rd}, {a}, 5", "lui": f"{rd}, 5"}.get(name, f"{rd}, {a}, {b}")
            lines.append(f"{name} {last}")
            continue
        row = chance.choice(rows)
        values = {}
        for operand in row.operands:
            known = sorted({operand.kind.parse(word) for word in operand.kind.words()})
            # Few registers, so that they meet.
            known = [value for value in known if value % 32 < 8] or [0, 1]
            values[operand.name] = chance.choice(known)
        lines.append(describe(Decoded(row, values)))
    return lines


def issue_times(lines):
    """The issue cycle of each instruction, in the emulator and in the second model."""
    device = machine("\n".join(lines) + "\n ebreak\n")
    core = processor(device)
    core.x[:32] = [0] * 32  # every order is legal
    issues = []
    device.listen(lambda event: issues.append(event.time) if event.kind == "instruction" else None, ["vc"])  # fmt: skip
    # Values that are computed may be no order; what comes before has its times all the same.
    device.run(max_cycles=10_000)
    ready: dict[str, int] = {}
    at, wanted = -1, []
    for line in lines[: len(issues)]:
        mnemonic, _, rest = line.partition(" ")
        operands = rest.replace(",", " ").split()
        names = named_registers(mnemonic, operands)
        at = max([at + 1, *(ready.get(name, 0) for name in names)])
        wanted.append(at)
        vectors = {"vdiv.f32": 12, "vsqrt.f32": 12, "vexp.f32": 12} | LATENCIES
        latency = vectors.get(mnemonic, 4 if mnemonic.startswith("pmac") else 3)
        for name in named_registers(mnemonic, operands[:1]):
            ready[name] = at + latency
    return issues[: len(wanted)], wanted
