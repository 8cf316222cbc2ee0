"""Random programs of RV32IM that end, for comparisons of machines and engines."""

from __future__ import annotations

import random
from dataclasses import dataclass

from macaw.isa import cp
from macaw.isa.codec import encode
from macaw.isa.rows import Instruction

EDGES = (0, 1, 2, 3, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000,
         0x80000001, 0xFFFF8000, 0xFFFFFF80, 0xFFFFFFFE, 0xFFFFFFFF, 0x55555555, 0xAAAAAAAA)  # fmt: skip
DATA_BYTES = 2048
BASE, COUNTER, POINTER, LINK = 31, 30, 29, 28  # registers with a purpose; the rest are free
FREE = range(28)
ROWS = cp.CORE.by_mnemonic
COMPUTE = [
    row
    for row in cp.CORE.instructions
    if row.family in ("register", "immediate", "upper", "multiply", "divide")
]
LOADS = [row for row in cp.CORE.instructions if row.family == "load"]
STORES = [row for row in cp.CORE.instructions if row.family == "store"]
BRANCHES = [row for row in cp.CORE.instructions if row.family == "branch"]
SIZES = {"lb": 1, "lbu": 1, "sb": 1, "lh": 2, "lhu": 2, "sh": 2, "lw": 4, "sw": 4}

Line = tuple[Instruction, dict[str, int]]


@dataclass(frozen=True)
class RandomProgram:
    """Machine code, its data at `base`, and the offset of its last `ecall`, which exits."""

    text: bytes
    data: bytes
    base: int
    end: int  # bytes from the start


def constant(register: int, value: int) -> list[Line]:
    """Load 32 bits in two instructions."""
    low = (value & 0xFFF ^ 0x800) - 0x800
    upper = (value - low >> 12) & 0xFFFFF
    return [
        (ROWS["lui"], {"rd": register, "imm": upper}),
        (ROWS["addi"], {"rd": register, "rs1": register, "imm": low}),
    ]


def number(chance: random.Random) -> int:
    return chance.choice(EDGES) if chance.random() < 0.5 else chance.getrandbits(32)


def operands(row: Instruction, chance: random.Random) -> dict[str, int]:
    """Random operands; the register that is written is one of `FREE`."""
    values = {}
    for operand in row.operands:
        if operand.name == "rd":
            values["rd"] = chance.choice(FREE)
        elif operand.name in ("rs1", "rs2"):
            values[operand.name] = chance.randrange(32)
        else:
            kind = operand.kind
            low, high = kind.low, kind.high  # type: ignore[attr-defined]
            values[operand.name] = chance.choice((low, high, 0, chance.randint(low, high)))
    return values


def access(chance: random.Random) -> list[Line]:
    """A load or store in the data, relative to the base or to a computed pointer."""
    row = chance.choice(LOADS + STORES)
    size = SIZES[row.mnemonic]
    offset = chance.randrange(0, DATA_BYTES - 8, size)
    values = {"imm": offset, "rs1": BASE}
    before: list[Line] = []
    if chance.random() < 0.4:
        mask = (DATA_BYTES // 2 - 1) & -size
        source = chance.choice(FREE)
        before = [
            (ROWS["andi"], {"rd": POINTER, "rs1": source, "imm": mask}),
            (ROWS["add"], {"rd": POINTER, "rs1": POINTER, "rs2": BASE}),
        ]
        values = {"imm": offset % 512 & -size, "rs1": POINTER}
    other = "rd" if row.family == "load" else "rs2"
    values[other] = chance.choice(FREE)
    return [*before, (row, values)]


def random_program(
    chance: random.Random, base: int, units: int = 60, rounds: int = 3
) -> RandomProgram:
    """A program of `units` times one to three instructions, repeated `rounds` times."""
    parts: list[list[Line]] = []
    kinds = chance.choices(
        ("compute", "access", "branch", "jal", "jalr"), (60, 25, 9, 3, 3), k=units
    )
    for kind in kinds:
        if kind == "compute":
            row = chance.choice(COMPUTE)
            parts.append([(row, operands(row, chance))])
        elif kind == "access":
            parts.append(access(chance))
        elif kind == "branch":
            row = chance.choice(BRANCHES)
            parts.append([(row, operands(row, chance))])
        elif kind == "jal":
            parts.append([(ROWS["jal"], {"rd": chance.choice(FREE), "target": 0})])
        else:
            parts.append([
                (ROWS["auipc"], {"rd": LINK, "imm": 0}),
                (ROWS["jalr"], {"rd": chance.choice(FREE), "rs1": LINK, "imm": 0}),
            ])  # fmt: skip
    starts = [0]
    for part in parts:
        starts.append(starts[-1] + 4 * len(part))
    for place, part in enumerate(parts):
        row, values = part[-1]
        if row.family in ("branch", "jump"):
            target = starts[min(place + chance.randint(1, 6), len(parts))]
            name = "imm" if row.mnemonic == "jalr" else "target"
            values[name] = target - starts[place]
    head = [line for register in FREE for line in constant(register, number(chance))]
    head += constant(BASE, base) + constant(COUNTER, rounds)
    tail: list[Line] = [
        (ROWS["addi"], {"rd": COUNTER, "rs1": COUNTER, "imm": -1}),
        (ROWS["bne"], {"rs1": COUNTER, "rs2": 0, "target": -starts[-1] - 4}),
    ]
    lines = head + [line for part in parts for line in part] + tail
    done: list[Line] = [(ROWS["addi"], {"rd": 17, "rs1": 0, "imm": 93}), (ROWS["ecall"], {})]
    text = b"".join(encode(row, values).to_bytes(4, "little") for row, values in lines + done)
    return RandomProgram(text, chance.randbytes(DATA_BYTES), base, 4 * len(lines))
