"""Results of RV32IM equal Unicorn's, for random programs and for all pairs of special numbers."""

from __future__ import annotations

import random
from itertools import product

import pytest
import unicorn
from unicorn import riscv_const

from macaw.isa import cp
from macaw.isa.codec import encode
from tests.emu import vc_machine
from tests.emu.cp_machine import TEXT, machine, processor
from tests.emu.random_code import COMPUTE, DATA_BYTES, EDGES, ROWS, constant, random_program
from tests.emu.toys import EXTERNAL, UNIT

pytestmark = pytest.mark.once

PROGRAMS = 600
LEAST = 100_000  # instructions to be compared at least, over all parts of the test


def other_machine(
    text: bytes, data: bytes, base: int, end: int, at: int = TEXT, stack: int = 1 << 20
) -> tuple[list[int], bytes]:
    """Registers and data of Unicorn when it reaches `end`; its stack pointer starts as Macaw's."""
    other = unicorn.Uc(unicorn.UC_ARCH_RISCV, unicorn.UC_MODE_RISCV32)
    other.mem_map(at, 0x10000)
    other.mem_map(base & ~0xFFF, 0x4000)
    other.mem_write(at, text)
    other.mem_write(base, data)
    other.reg_write(riscv_const.UC_RISCV_REG_X2, stack)
    other.emu_start(at, at + end)
    registers = [other.reg_read(riscv_const.UC_RISCV_REG_X0 + n) & 0xFFFFFFFF for n in range(32)]
    return registers, bytes(other.mem_read(base, len(data)))


@pytest.mark.few(2)
@pytest.mark.parametrize("part", range(6))
def test_random_programs(part):
    chance = random.Random(1000 + part)
    done = 0
    for _ in range(PROGRAMS // 6):
        base = chance.choice((0x40000, 0x40000, UNIT, EXTERNAL + 0x1000))
        made = random_program(chance, base, chance.randint(20, 120), chance.randint(1, 6))
        device = machine(made.text, data=((base, made.data),))
        stop = device.run(max_cycles=10_000_000)
        assert stop.reason == "exit", stop
        registers, data = other_machine(made.text, made.data, base, made.end)
        ours = processor(device)
        registers[17] = 93  # set after the end, for ecall
        assert ours.x[:32] == registers
        assert device.memory.peek(base, DATA_BYTES) == data
        done += ours.retired
    assert done >= LEAST // 6


@pytest.mark.few(2)
@pytest.mark.parametrize("part", range(3))
def test_random_programs_on_vc(part):
    """The scalar base of vc, in external memory, gives the same results as Unicorn."""
    chance = random.Random(2000 + part)
    done = 0
    for _ in range(20):
        base = chance.choice((0x40000, UNIT, EXTERNAL + 0x10000))
        made = random_program(chance, base, chance.randint(20, 120), chance.randint(1, 4))
        device = vc_machine.machine(made.text, data=((base, made.data),))
        ours = vc_machine.processor(device)
        stack = ours.x[2]
        stop = device.run(max_cycles=10_000_000)
        assert stop.reason == "exit", stop
        registers, data = other_machine(made.text, made.data, base, made.end, EXTERNAL, stack)
        registers[17] = 93
        assert ours.x[:32] == registers
        assert device.memory.peek(base, DATA_BYTES) == data
        done += ours.retired
    assert done >= 3000


@pytest.mark.parametrize("row", COMPUTE, ids=lambda row: row.mnemonic)
def test_all_pairs_of_edges(row):
    """Each operation is right on each pair of special numbers."""
    if row.family in ("immediate", "upper"):
        kind = row.operands[-1].kind
        seconds = sorted(
            {kind.low, kind.low + 1, 0, 1, 15, kind.high - 1, kind.high}
            & set(range(kind.low, kind.high + 1))
        )
        pairs = [(first, second) for first in EDGES for second in seconds]
    else:
        pairs = list(product(EDGES, EDGES))
    lines, place = constant(31, 0x40000), 0
    for first, second in pairs:
        lines += constant(5, first)
        values = {"rd": 7}
        if row.family == "upper":
            values["imm"] = second
        elif row.family == "immediate":
            values |= {"rs1": 5, row.operands[-1].name: second}
        else:
            lines += constant(6, second)
            values |= {"rs1": 5, "rs2": 6}
        lines.append((row, values))
        lines.append((ROWS["sw"], {"rs2": 7, "rs1": 31, "imm": place}))
        place += 4
    body = b"".join(encode(*line).to_bytes(4, "little") for line in lines)
    exits = encode(ROWS["addi"], {"rd": 17, "rs1": 0, "imm": 93}), encode(ROWS["ecall"], {})
    text = body + b"".join(word.to_bytes(4, "little") for word in exits)
    device = machine(text)
    assert device.run().reason == "exit"
    _, data = other_machine(text, bytes(place), 0x40000, len(body))
    assert device.memory.peek(0x40000, place) == data


def test_every_act_is_compared():
    names = {
        row.mnemonic for row in cp.CORE.instructions if row.family not in ("csr", "system", "xcp")
    }
    chance = random.Random(1)
    seen = set()
    for _ in range(40):
        made = random_program(chance, 0x40000)
        for place in range(0, made.end, 4):
            word = int.from_bytes(made.text[place : place + 4], "little")
            for row in cp.CORE.instructions:
                if word & row.mask == row.match:
                    seen.add(row.mnemonic)
    assert names <= seen
