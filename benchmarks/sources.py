"""Sources to measure with: distinct, plain RISC-V lines as programs have them."""

from __future__ import annotations

import random

_REGISTERS = [
    *(f"a{x}" for x in range(8)),
    *(f"t{x}" for x in range(7)),
    *(f"s{x}" for x in range(12)),
]
_WIDE = ("add", "sub", "sll", "slt", "sltu", "xor", "srl", "sra", "or", "and", "mul", "divu")
_NARROW = ("addi", "slti", "xori", "ori", "andi")
_BRANCHES = ("beq", "bne", "blt", "bge", "bltu", "bgeu")
_ROUTINE = 67  # lines of a routine, its data included
_LABELS = 7  # in a routine


def assembly(lines: int, core: str = ".core cp", seed: int = 1) -> str:
    """A source of that many lines: routines of code and data, their labels and comments.

    It keeps to what GNU as, llvm-mc and Macaw read alike; `core` is the first
    line, which the others do not have.
    """
    pick = random.Random(seed)
    out = [core] if core else []
    routine = 0
    while len(out) + _ROUTINE < lines:
        out += _routine(pick, routine)
        routine += 1
    out.append("        .text")
    out += [f"        addi    a0, a1, {number}" for number in range(lines - len(out))]
    return "\n".join(out) + "\n"


def _routine(pick: random.Random, number: int) -> list[str]:
    """One routine: code with local jumps and a call backwards, then a table of data."""
    places = sorted(pick.sample(range(4, 48), _LABELS))
    labels = [f"f{number}_{place}" for place in range(_LABELS)]
    out = ["        .text", f"f{number}:"]
    for place in range(48):
        if place in places:
            out.append(f"{labels[places.index(place)]}:")
        out.append(_comment(pick, "        " + _instruction(pick, labels, number)))
    out += ["        ret", "        .data", f"d{number}:"]
    out.append(f"        .word   {', '.join(str(pick.randrange(1 << 32)) for _ in range(4))}")
    out.append(f"        .word   {pick.choice(labels)}, f{pick.randrange(number + 1)}")
    out.append(f"        .half   {pick.randrange(1 << 16)}, {-pick.randrange(1 << 15)}")
    out.append(f"        .byte   {pick.randrange(256)}, {pick.randrange(256):#x}, 0, 1")
    out.append(f'        .asciz  "text of {number}"')
    out.append("        .balign 4")
    return out


def _comment(pick: random.Random, text: str) -> str:
    return f"{text:<40}# step {pick.randrange(1000)}" if pick.random() < 0.2 else text


def _instruction(pick: random.Random, labels: list[str], number: int) -> str:
    one, two, three = pick.choices(_REGISTERS, k=3)
    dice = pick.random()
    if dice < 0.30:
        return f"{pick.choice(_WIDE):<7} {one}, {two}, {three}"
    if dice < 0.48:
        return f"{pick.choice(_NARROW):<7} {one}, {two}, {pick.randrange(-2048, 2048)}"
    if dice < 0.52:
        return f"{pick.choice(('slli', 'srli', 'srai')):<7} {one}, {two}, {pick.randrange(32)}"
    if dice < 0.64:
        return (
            f"{pick.choice(('lw', 'lh', 'lbu')):<7} {one}, {pick.randrange(-512, 512) * 4}({two})"
        )
    if dice < 0.74:
        return f"{pick.choice(('sw', 'sh', 'sb')):<7} {one}, {pick.randrange(-512, 512) * 4}({two})"
    if dice < 0.84:
        return f"{pick.choice(_BRANCHES):<7} {one}, {two}, {pick.choice(labels)}"
    if dice < 0.86:
        return f"j       {pick.choice(labels)}"
    if dice < 0.88:
        return f"call    f{pick.randrange(number + 1)}"
    if dice < 0.90:
        return f"la      {one}, d{pick.randrange(number + 1)}"
    if dice < 0.94:
        return f"li      {one}, {pick.randrange(-(1 << 31), 1 << 31)}"
    if dice < 0.97:
        return f"mv      {one}, {two}"
    return f"{pick.choice(('beqz', 'bnez')):<7} {one}, {pick.choice(labels)}"
