"""Assembly sources for benchmarks: random routines of RISC-V instructions and data."""

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
    """Return a source of `lines` lines: routines of code and data, with labels and comments.

    GNU as, llvm-mc and Macaw read its lines alike. Only Macaw's source has `core` as first line.
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
    """Return one routine: code with local jumps and a call backwards, then a table of data."""
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


def program_of_four_files() -> dict[str, str]:
    """Return the texts of a program of 1,300 lines, by file name, with its golden.toml.

    main.s has the code of cp, kernels.s that of vc, layer.s that of a row; all include common.inc.
    The program assembles without a warning.
    """
    sizes = {"main.s": 500, "kernels.s": 420, "layer.s": 220, "common.inc": 160}
    lines = {
        "main.s": _main(sizes["main.s"]),
        "kernels.s": _kernels(sizes["kernels.s"]),
        "layer.s": _layer(sizes["layer.s"]),
        "common.inc": _common(sizes["common.inc"]),
    }
    for name, size in sizes.items():
        if len(lines[name]) != size:
            raise ValueError(f"{name} has {len(lines[name])} lines, not {size}")
    texts = {name: "\n".join(found) + "\n" for name, found in lines.items()}
    return {**texts, "golden.toml": 'source = ["main.s", "kernels.s", "layer.s"]\n'}


def _filled(lines: list[str], size: int) -> list[str]:
    return [*lines, *(f"# note {number}" for number in range(size - len(lines)))]


def _main(size: int) -> list[str]:
    """Return the lines of cp's code: routines that call one another, and the start of vc."""
    out = [
        "# main.s - starts the kernels and calls some routines.",
        '        .include "common.inc"',
        "        .device base",
        "        .input  x, int8, LANES * BLOCKS",
        "        .output y, int32, BLOCKS",
        "        .global x, y, finish",
        "        .core   cp",
        "_start: li      a0, 1",
        "        la      a1, kernels",
        "        core.start a0, a1",
        "        li      a0, 1 << 1",
        "        core.wait a0",
        "        call    routine0",
        "finish: leave   0",
    ]
    number = 0
    while len(out) + 12 <= size:
        out += [
            f"routine{number}:",
            "        save    ra",
            f"        li      t0, COUNT{number % 40}",
            "1:      addi    t0, t0, -STEP",
            f"        lw      t1, table{number}",
            "        add     a0, a0, t1",
            "        bgtz    t0, 1b",
            "        restore ra",
            "        ret",
            "        .data",
            f"table{number}: .word SIZE * {number + 1}, COUNT{number % 40}",
            "        .text",
        ]
        number += 1
    return _filled(out, size)


def _kernels(size: int) -> list[str]:
    """Return the lines of vc's code: dot products."""
    out = [
        "# kernels.s - vector code.",
        '        .include "common.inc"',
        "        .global kernels",
        "        .core   vc",
        "kernels:",
        "        la      a1, x",
        "        la      a2, y",
        "        li      a0, 0",
        "        call    kernel0",
        "        leave   0",
    ]
    number = 0
    while len(out) + 10 <= size:
        out += [
            f"kernel{number}:",
            "        li      t0, BLOCKS",
            "2:      vld     vr0, (a1)",
            f"        vadd.b  vr{number % 7 + 1}, vr0, vr0",
            "        addi    a1, a1, LANES",
            "        addi    t0, t0, -1",
            "        bnez    t0, 2b",
            f"        vsum.w  vr8, vr{number % 7 + 1}",
            "        vext.w  a0, vr8, 0",
            "        ret",
        ]
        number += 1
    return _filled(out, size)


def _layer(size: int) -> list[str]:
    """Return the lines of the code of an array row: sequences and their packets."""
    out = [
        "# layer.s - the array.",
        '        .include "common.inc"',
        "        .core   pe, row=0",
        "w:      .array  int8, 64",
        "bytes:  .array  int8, 64",
    ]
    number = 0
    while len(out) + 10 <= size:
        out += [
            f"        .seq    layer{number}, state=sq, shift={number % 8}",
            "          ld    activations, base=0",
            "          ld    weights",
            "          mac   base=0, acc=0, balance",
            "          spu   nonsf, src=0, dst=0",
            "          st    base=0",
            "        .endseq",
            f"data{number}: .array  int8, 8",
            f"        config  ib={number % 4}, layer{number}",
            "",
        ]
        number += 1
    return _filled(out, size)


def _common(size: int) -> list[str]:
    """Return the lines of constants and macros that all files include."""
    out = [
        "# common.inc - constants and macros.",
        "        .equ    LANES, 16",
        "        .equ    BLOCKS, 4",
        "        .equ    SIZE, LANES * BLOCKS",
        "        .equ    STEP, 1",
        *(f"        .equ    COUNT{number}, SIZE + {number}" for number in range(40)),
        ".macro  save register",
        "        addi    sp, sp, -16",
        "        sw      \\register, 0(sp)",
        ".endm",
        ".macro  restore register",
        "        lw      \\register, 0(sp)",
        "        addi    sp, sp, 16",
        ".endm",
        ".macro  leave status",
        "        li      a0, \\status",
        "        li      a7, 93",
        "        ecall",
        ".endm",
    ]
    number = 0
    while len(out) + 4 <= size:
        out += [f".macro  add{number} left, right", "        add     \\left, \\left, \\right"]
        out += ["        addi    \\left, \\left, STEP", ".endm"]
        number += 1
    return _filled(out, size)
