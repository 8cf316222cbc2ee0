"""The semantics of `macaw.isa.scalar`: a function for each mnemonic, on registers and local memory.

Each function makes an *act*: a function without arguments that executes one decoded instruction on
the registers `x`, Python ints from 0 to 2**32 - 1. The parameters of the outer function are the
row's operands; for a register this is an index in `x`. Writes to x0 go to the last index, `SINK`.
The outer function has further parameters, by family:

| family | further parameters | the act returns |
|---|---|---|
| register, immediate, upper, multiply, divide | `pc` if the row reads it | nothing |
| load, store | `local`, `place` | nothing; raises `Leave` outside plain local memory |
| branch | `taken`, `fallen` | one of these two |
| jump | `link`, `leave`, `cost` | the next address and `cost` |

`local` is the local memory. `place` and `leave` are the index of the instruction in its run, which
a raised `Leave` contains. `link` is the return address, `cost` the device cycles up to the next
address. `taken` and `fallen` are exits: pairs (next address, cycles).

`macaw.emu.scalar.fast.inlining` uses the statements of an act as text, but for loads and stores. So
an act's local names must not be names of operands, a register must be written `x[operand]`, and
only the last statement may return. `macaw.emu.scalar.fast.accesses` writes the text of loads and
stores from the tables `LOADS` and `STORES`.

`macaw.emu.scalar.services` executes the families csr and system.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable
from types import ModuleType
from typing import Any

from macaw.emu.pages import SHARED, SHIFT, WRITTEN, Pages

Act = Callable[[], None]
Exit = tuple[int, int]  # the next address, and the device cycles until the core is there
Decision = Callable[[], Exit]
Registers = list[int]

SINK = 32
MASK = 0xFFFF_FFFF
SIGN = 0x8000_0000


class Leave(Exception):
    """Raised by an act that cannot execute its instruction, so that the interpreter executes it.

    The act has changed nothing. `place` is the index of the instruction in the run.
    """

    def __init__(self, place: int) -> None:
        self.place = place


def meaning(module: ModuleType, mnemonic: str) -> Any:
    """Return the function of a module for a mnemonic.

    The function for `and` is `and_`, the one for `fence.tso` is `fence_tso`.
    """
    name = mnemonic.replace(".", "_")
    return getattr(module, f"{name}_" if keyword.iskeyword(name) else name)


def signed(value: int) -> int:
    """Return the signed number that the 32 bits of `value` represent in two's complement."""
    return (value ^ SIGN) - SIGN


# Register


def add(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] + x[rs2] & MASK

    return act


def sub(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] - x[rs2] & MASK

    return act


def sll(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] << (x[rs2] & 31) & MASK

    return act


def slt(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = 1 if x[rs1] ^ SIGN < x[rs2] ^ SIGN else 0

    return act


def sltu(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = 1 if x[rs1] < x[rs2] else 0

    return act


def xor(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] ^ x[rs2]

    return act


def srl(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] >> (x[rs2] & 31)

    return act


def sra(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = (x[rs1] ^ SIGN) - SIGN >> (x[rs2] & 31) & MASK

    return act


def or_(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] | x[rs2]

    return act


def and_(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] & x[rs2]

    return act


# Immediate


def addi(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] + imm & MASK

    return act


def slti(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    limit = (imm & MASK) ^ SIGN

    def act() -> None:
        x[rd] = 1 if x[rs1] ^ SIGN < limit else 0

    return act


def sltiu(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    limit = imm & MASK

    def act() -> None:
        x[rd] = 1 if x[rs1] < limit else 0

    return act


def xori(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    bits = imm & MASK

    def act() -> None:
        x[rd] = x[rs1] ^ bits

    return act


def ori(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    bits = imm & MASK

    def act() -> None:
        x[rd] = x[rs1] | bits

    return act


def andi(x: Registers, rd: int, rs1: int, imm: int) -> Act:
    bits = imm & MASK

    def act() -> None:
        x[rd] = x[rs1] & bits

    return act


def slli(x: Registers, rd: int, rs1: int, shamt: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] << shamt & MASK

    return act


def srli(x: Registers, rd: int, rs1: int, shamt: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] >> shamt

    return act


def srai(x: Registers, rd: int, rs1: int, shamt: int) -> Act:
    def act() -> None:
        x[rd] = (x[rs1] ^ SIGN) - SIGN >> shamt & MASK

    return act


# Upper


def lui(x: Registers, rd: int, imm: int) -> Act:
    value = imm << 12

    def act() -> None:
        x[rd] = value

    return act


def auipc(x: Registers, rd: int, imm: int, pc: int) -> Act:
    value = pc + (imm << 12) & MASK

    def act() -> None:
        x[rd] = value

    return act


# Multiply and divide


def mul(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] * x[rs2] & MASK

    return act


def mulh(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = signed(x[rs1]) * signed(x[rs2]) >> 32 & MASK

    return act


def mulhsu(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = signed(x[rs1]) * x[rs2] >> 32 & MASK

    return act


def mulhu(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        x[rd] = x[rs1] * x[rs2] >> 32

    return act


def div(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        top, bottom = signed(x[rs1]), signed(x[rs2])
        # Division rounds towards zero; -2**31 / -1 wraps to -2**31.
        quotient = abs(top) // abs(bottom) if bottom else MASK
        x[rd] = (-quotient if bottom and (top < 0) != (bottom < 0) else quotient) & MASK

    return act


def divu(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        bottom = x[rs2]
        x[rd] = x[rs1] // bottom if bottom else MASK

    return act


def rem(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        top, bottom = signed(x[rs1]), signed(x[rs2])
        rest = abs(top) % abs(bottom) if bottom else abs(top)
        x[rd] = (-rest if top < 0 else rest) & MASK

    return act


def remu(x: Registers, rd: int, rs1: int, rs2: int) -> Act:
    def act() -> None:
        bottom = x[rs2]
        x[rd] = x[rs1] % bottom if bottom else x[rs1]

    return act


# Load and store: (bytes, signed) and bytes for the interpreter, and acts for local memory

LOADS = {"lb": (1, True), "lh": (2, True), "lw": (4, False), "lbu": (1, False), "lhu": (2, False)}
STORES = {"sb": 1, "sh": 2, "sw": 4}


def lb(x: Registers, rd: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size = local.bytes, local.size

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size:
            raise Leave(place)
        x[rd] = (data[address] ^ 0x80) - 0x80 & MASK

    return act


def lbu(x: Registers, rd: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size = local.bytes, local.size

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size:
            raise Leave(place)
        x[rd] = data[address]

    return act


def lh(x: Registers, rd: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size = local.halves, local.size

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size or address & 1:
            raise Leave(place)
        x[rd] = (data[address >> 1] ^ 0x8000) - 0x8000 & MASK

    return act


def lhu(x: Registers, rd: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size = local.halves, local.size

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size or address & 1:
            raise Leave(place)
        x[rd] = data[address >> 1]

    return act


def lw(x: Registers, rd: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size = local.words, local.size

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size or address & 3:
            raise Leave(place)
        x[rd] = data[address >> 2]

    return act


def sb(x: Registers, rs2: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size, marks, watched = local.bytes, local.size, local.marks, local.watched

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size:
            raise Leave(place)
        mark = marks[address >> SHIFT]
        if mark != WRITTEN and (mark != SHARED or watched[address >> 2]):
            raise Leave(place)
        data[address] = x[rs2] & 0xFF

    return act


def sh(x: Registers, rs2: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size, marks, watched = local.halves, local.size, local.marks, local.watched

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size or address & 1:
            raise Leave(place)
        mark = marks[address >> SHIFT]
        if mark != WRITTEN and (mark != SHARED or watched[address >> 2]):
            raise Leave(place)
        data[address >> 1] = x[rs2] & 0xFFFF

    return act


def sw(x: Registers, rs2: int, rs1: int, imm: int, local: Pages, place: int) -> Act:
    data, size, marks, watched = local.words, local.size, local.marks, local.watched

    def act() -> None:
        address = x[rs1] + imm & MASK
        if address >= size or address & 3:
            raise Leave(place)
        mark = marks[address >> SHIFT]
        if mark != WRITTEN and (mark != SHARED or watched[address >> 2]):
            raise Leave(place)
        data[address >> 2] = x[rs2]

    return act


# Branch and jump


def beq(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] == x[rs2] else fallen

    return act


def bne(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] != x[rs2] else fallen

    return act


def blt(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] ^ SIGN < x[rs2] ^ SIGN else fallen

    return act


def bge(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] ^ SIGN >= x[rs2] ^ SIGN else fallen

    return act


def bltu(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] < x[rs2] else fallen

    return act


def bgeu(x: Registers, rs1: int, rs2: int, taken: Exit, fallen: Exit) -> Decision:
    def act() -> Exit:
        return taken if x[rs1] >= x[rs2] else fallen

    return act


def jal(x: Registers, rd: int, target: int, link: int, leave: int, cost: int) -> Decision:
    """Return the act of jal; `target` is an address, not an offset.

    The module's docstring explains the other parameters.
    """
    exit_ = (target, cost)

    def act() -> Exit:
        if target & 3:
            raise Leave(leave)
        x[rd] = link
        return exit_

    return act


def jalr(x: Registers, rd: int, rs1: int, imm: int, link: int, leave: int, cost: int) -> Decision:
    def act() -> Exit:
        target = x[rs1] + imm & 0xFFFF_FFFE
        if target & 2:
            raise Leave(leave)
        x[rd] = link
        return target, cost

    return act
