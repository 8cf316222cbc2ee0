"""Random programs with hot loops, for comparisons of engines.

Bodies of loops compute, access data, branch, call, store into their own code, access addresses
beyond a memory, read counters and have breakpoints. On vc they also use vector registers.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from macaw.isa import cp, vector
from macaw.isa.codec import encode
from macaw.isa.kinds import Flag, Immediate
from macaw.isa.rows import Instruction
from macaw.isa.vector_layouts import GENERAL, Order, Pair, VectorRegister
from tests.emu import random_code
from tests.emu.random_code import BASE, POINTER, ROWS, Line, constant

# Registers with a purpose: a loop's rounds, code to store, the place for it, a pointer that walks,
# a mask that keeps the walk in bounds (or not).
ROUND, WORD, PLACE, WALKER = 27, 26, 25, 24
BODY = range(24)  # what a body may write
ORDER = 15  # the vector register that holds a good order, mostly
VECTOR_ROWS = [
    row
    for row in vector.CORE.instructions
    if row.mnemonic in vector.OPERATIONS and row.family != "vector memory"
]
LANES = [
    row for row in vector.CORE.instructions if row.mnemonic in ("vld", "vst", "vlds.w", "vsts.h")
]


@dataclass(frozen=True)
class Loops:
    """Machine code for one address, with data for another."""

    text: bytes
    data: bytes


def _scalar(row: Instruction, chance: random.Random) -> Line:
    values = random_code.operands(row, chance)
    if values.get("rd", 0) not in BODY:
        values["rd"] = chance.choice(BODY)
    return row, values


def _access(chance: random.Random) -> list[Line]:
    lines = random_code.access(chance)
    _, values = lines[-1]
    if values.get("rd", 0) not in BODY:
        values["rd"] = chance.choice(BODY)
    return lines


def _vector(chance: random.Random) -> Line:
    row = chance.choice(VECTOR_ROWS)
    values = {}
    for operand in row.operands:
        kind = operand.kind
        if isinstance(kind, VectorRegister):
            is_order = row.mnemonic == "vperm" and operand.name == "rs3"
            values[operand.name] = ORDER if is_order else chance.randrange(ORDER)
        elif isinstance(kind, Order):
            number = GENERAL + 2 * chance.randrange(12)
            values[operand.name] = ORDER if chance.random() < 0.7 else number
        elif isinstance(kind, Pair):
            values[operand.name] = 2 * chance.randrange(12)
        elif isinstance(kind, Flag):
            values[operand.name] = chance.randrange(2)
        elif isinstance(kind, Immediate):
            values[operand.name] = chance.randint(kind.low, kind.high)
        else:
            values[operand.name] = chance.randrange(24)
    return row, values


def _lanes(chance: random.Random) -> list[Line]:
    row = chance.choice(LANES)
    if "imm" not in {operand.name for operand in row.operands}:
        names = {operand.name for operand in row.operands}
        register = "rd" if "rd" in names else "rs3"
        stride = [(ROWS["addi"], {"rd": POINTER, "rs1": 0, "imm": 4 * chance.randrange(8)})]
        return [*stride, (row, {register: chance.randrange(ORDER), "rs1": BASE, "rs2": POINTER})]
    register = "rd" if row.mnemonic == "vld" else "rs2"
    offset = 16 * chance.randrange(random_code.DATA_BYTES // 16)
    return [(row, {register: chance.randrange(ORDER), "rs1": BASE, "imm": offset})]


def _walk(chance: random.Random) -> list[Line]:
    """An access by a pointer that may leave the memory or lose its alignment after some rounds."""
    row = chance.choice(random_code.LOADS + random_code.STORES)
    other = "rd" if row.family == "load" else "rs2"
    step = chance.choice((4, 4, 4, 4, 64, 2047))
    return [
        (row, {"rs1": WALKER, "imm": 0, other: chance.choice(BODY)}),
        (ROWS["addi"], {"rd": WALKER, "rs1": WALKER, "imm": step}),
    ]


def _body(chance: random.Random, has_vectors: bool, has_markers: bool) -> list[list[Line]]:
    names = ("compute", "access", "branch", "jal", "walk", "counter", "vector", "lanes", "marker")
    weights = [50, 18, 12, 3, 4, 2, *((25, 12) if has_vectors else (0, 0)), 20 * has_markers]
    parts: list[list[Line]] = []
    for kind in chance.choices(names, weights, k=chance.randint(3, 14)):
        if kind == "access":
            parts.append(_access(chance))
        elif kind == "branch":
            row = chance.choice(random_code.BRANCHES)
            parts.append([(row, random_code.operands(row, chance))])
        elif kind == "jal":
            parts.append([(ROWS["jal"], {"rd": chance.choice(BODY), "target": 0})])
        elif kind == "walk":
            parts.append(_walk(chance))
        elif kind == "counter":
            csr = chance.choice(("cycle", "instret"))
            number = next(x.address for x in cp.CORE.specials if x.name == csr)
            parts.append([(ROWS["csrrs"], {"rd": chance.choice(BODY), "csr": number, "rs1": 0})])
        elif kind == "vector":
            parts.append([_vector(chance)])
        elif kind == "lanes":
            parts.append(_lanes(chance))
        elif kind == "marker":
            row = ROWS[chance.choice(("trace_begin", "trace_end"))]
            parts.append([(row, {"g": chance.randrange(4)})])
        else:
            parts.append([_scalar(chance.choice(random_code.COMPUTE), chance)])
    for place, part in enumerate(parts):
        row, values = part[-1]
        if row.family in ("branch", "jump"):
            over = chance.randint(1, 4)
            values["target"] = 4 * sum(map(len, parts[place : place + over]))
    return parts


def _patched(parts: list[list[Line]], at: int, chance: random.Random) -> list[Line]:
    """The lines of a body, with a store that changes the constant of one of its `addi`."""
    register = chance.choice(BODY)
    target = (ROWS["addi"], {"rd": register, "rs1": register, "imm": 1})
    word = encode(ROWS["addi"], {"rd": register, "rs1": register, "imm": chance.randint(2, 99)})
    store: list[Line] = [
        (ROWS["andi"], {"rd": POINTER, "rs1": ROUND, "imm": chance.choice((0, 7, 31, 63))}),
        (ROWS["bne"], {"rs1": POINTER, "rs2": 0, "target": 8}),
        (ROWS["sw"], {"rs2": WORD, "rs1": PLACE, "imm": 0}),
    ]
    before = chance.random() < 0.5
    lines = [line for part in parts for line in part]
    lines = [*store, *lines, target] if before else [target, *lines, *store]
    place = at + 4 * (4 + (len(lines) - 1 if before else 0))
    return [*constant(WORD, word), *constant(PLACE, place), *lines]


def random_loops(
    chance: random.Random,
    text: int,
    base: int,
    loops: int = 4,
    has_vectors: bool = False,
    has_markers: bool = False,
) -> Loops:
    """Code for address `text` and data for `base`; some programs end with a fault."""
    lines: list[Line] = []
    for register in (*BODY, *range(28, 31)):
        lines += constant(register, random_code.number(chance))
    lines += constant(BASE, base)
    if has_vectors:
        row = vector.CORE.by_mnemonic["vld"]
        lines += [(row, {"rd": n, "rs1": BASE, "imm": 16 * n}) for n in range(16)]
    for _ in range(loops):
        lines += [
            (ROWS["addi"], {"rd": ROUND, "rs1": 0, "imm": chance.randint(40, 120)}),
            (ROWS["addi"], {"rd": WALKER, "rs1": BASE, "imm": 0}),
        ]
        parts = _body(chance, has_vectors, has_markers)
        head = len(lines)
        if chance.random() < 0.5:
            lines += _patched(parts, text + 4 * head, chance)
            head += 4
        else:
            lines += [line for part in parts for line in part]
        if chance.random() < 0.2:
            lines.append((ROWS["ebreak"], {}))
        lines += [
            (ROWS["addi"], {"rd": ROUND, "rs1": ROUND, "imm": -1}),
            (ROWS["bne"], {"rs1": ROUND, "rs2": 0, "target": -4 * (len(lines) + 1 - head)}),
        ]
    lines += [
        (ROWS["addi"], {"rd": 10, "rs1": 0, "imm": 3}),
        (ROWS["addi"], {"rd": 17, "rs1": 0, "imm": 93}),
    ]
    lines.append((ROWS["ecall"], {}))
    orders = bytes(chance.randrange(4) for _ in range(16))
    data = bytearray(chance.randbytes(random_code.DATA_BYTES))
    data[16 * ORDER : 16 * ORDER + 16] = orders
    return Loops(
        b"".join(encode(row, values).to_bytes(4, "little") for row, values in lines), bytes(data)
    )
