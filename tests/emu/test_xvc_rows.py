"""An instruction of Xvc changes and reads exactly the registers that its row of the table says."""

from __future__ import annotations

import random

import numpy as np
import pytest

from macaw.emu.vector.scoreboard import registers
from macaw.emu.vector.state import FIRST_VECTOR
from macaw.isa import vector, vector_layouts
from macaw.isa.kinds import Immediate
from macaw.isa.memory_map import EXTERNAL
from macaw.isa.rows import Instruction
from macaw.isa.vector_layouts import GENERAL
from tests.emu.vc_machine import Bench
from tests.fuzzing import tries

pytestmark = pytest.mark.once

DATA = EXTERNAL + 0x4000
GENERALS, VECTORS = range(1, 32), range(16)
Snapshot = tuple[list[int], bytes, bytes]


@pytest.fixture(scope="module")
def bench() -> Bench:
    return Bench()


def operands(row: Instruction, chance: random.Random) -> dict[str, int]:
    """Operands with a different register each, so that reads and writes can be told apart."""
    values: dict[str, int] = {}
    even, whole = list(range(4, 30, 2)), list(VECTORS)
    chance.shuffle(even)
    chance.shuffle(whole)
    for operand in row.operands:
        kind = operand.kind
        if isinstance(kind, Immediate):
            values[operand.name] = min(kind.high, 16 * chance.randrange(4) if operand.name == "imm" else chance.randint(0, kind.high))  # fmt: skip
        elif kind.optional:
            values[operand.name] = 1  # so that rd is read, too
        elif operand.name == "rs3" and row.family == "pmac" and "gr" not in row.mnemonic:
            values[operand.name] = whole.pop() if chance.random() < 0.5 else GENERAL + even.pop()
        else:
            values[operand.name] = whole.pop() if kind is vector_layouts.VECTOR else even.pop()
    return values


def places(row: Instruction, values: dict[str, int], words: str) -> set[int]:
    """The places of the scoreboard for the operands that `words` names."""
    return {
        place
        for operand in row.operands
        if operand.name in words.split()
        for place in registers(operand.kind, values[operand.name])
    }


def prepare(bench: Bench, row: Instruction, values: dict[str, int], chance: random.Random) -> None:
    core = bench.core
    for number in GENERALS:
        core.x[number] = chance.getrandbits(32)
    for number in VECTORS:
        bench.vector(
            number, bytes(chance.randrange(0x38, 0x50) for _ in range(16))
        )  # of floats, too
    if row.mnemonic.startswith(("pmac", "vperm")) and values["rs3"] < GENERAL:
        legal = 32 if row.mnemonic == "vperm" else 4
        bench.vector(values["rs3"] & 15, bytes(chance.randrange(legal) for _ in range(16)))
    if row.family == "vector compare" and chance.random() < 0.5:
        bench.vector(values["rs2"], bench.result(values["rs1"]))
    if row.family == "vector memory":
        core.x[values["rs1"]] = DATA + 0x100
        if "imm" not in values:
            core.x[values["rs2"]] = 8 * chance.randint(1, 8)
    elif values.get("rs3", 0) >= GENERAL:
        core.x[values["rs3"] - GENERAL] &= 0x77777777  # eight lanes
    core.device.memory.poke(DATA, chance.randbytes(1024))


def flip(bench: Bench, place: int, row: Instruction, values: dict[str, int]) -> None:
    """Change the value of a register; addresses remain aligned, orders legal."""
    if place >= FIRST_VECTOR:
        is_order = values.get("rs3") == place - FIRST_VECTOR and row.family != "vector compare"
        bench.core.vr[place - FIRST_VECTOR] ^= np.uint8(1 if is_order else 0x15)
    else:
        bench.core.x[place] ^= 0x10 if row.family == "vector memory" else 0x1111


def outcome(bench: Bench, row: Instruction, values: dict[str, int]) -> Snapshot:
    """Registers and memory after the instruction."""
    bench.do(row.mnemonic, **values)
    core = bench.core
    data: bytes = core.device.memory.peek(DATA, 1024)
    return core.x[:32], core.vr.tobytes(), data


def changed(before: Snapshot, after: Snapshot) -> set[int]:
    found = {n for n in GENERALS if before[0][n] != after[0][n]}
    for number in VECTORS:
        part = slice(16 * number, 16 * number + 16)
        if before[1][part] != after[1][part]:
            found.add(FIRST_VECTOR + number)
    return found


@pytest.mark.parametrize("row", vector.XVC, ids=lambda row: row.mnemonic)
def test_reads_and_writes(bench: Bench, row: Instruction) -> None:
    core = bench.core
    seen: set[str] = set()
    wanted = set(row.reads.split()) - {"memory"}
    for turn in range(12):
        if turn >= tries(12) and seen >= wanted:
            break
        chance = random.Random(f"{row.mnemonic} {turn}")
        values = operands(row, chance)
        bench.do("vmov", rd=0, rs1=0)  # nothing before is under way
        prepare(bench, row, values, chance)
        held = core.x[:32], core.vr.tobytes(), core.device.memory.peek(DATA, 1024)

        def again(held: Snapshot = held) -> None:
            core.x[:32] = held[0]
            core.vr[:] = np.frombuffer(held[1], np.uint8).reshape(core.vr.shape)
            core.device.memory.poke(DATA, held[2])

        core.x[2] = core.stack_end & 0xFFFFFFFF  # start sets it
        held = core.x[:32], held[1], held[2]
        plain = outcome(bench, row, values)
        assert changed(held, plain) <= places(row, values, row.writes)
        assert "memory" in row.writes.split() or plain[2] == held[2]
        read = places(row, values, row.reads)
        for place in range(3, FIRST_VECTOR + 16):
            again(held)
            flip(bench, place, row, values)
            other = outcome(bench, row, values)
            differs = changed(plain, other) | ({-1} if other[2] != plain[2] else set())
            written = place in places(row, values, row.writes)
            if place not in read:
                # The place keeps its changed value unless the instruction writes it.
                assert differs <= (set() if written else {place}), (place, values)
            elif differs - (set() if written else {place}):
                seen |= {x.name for x in row.operands if place in registers(x.kind, values[x.name])}
    assert seen >= wanted
