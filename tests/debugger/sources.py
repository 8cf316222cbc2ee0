"""Sources of programs that several tests debug."""

from __future__ import annotations

CALLS = """
        .core cp
        .macro twice reg
        add  \\reg, \\reg, \\reg
        add  \\reg, \\reg, \\reg
        .endm
_start: li   a0, 3
        call double
        twice a0
        call deep
        mv   s0, a0
again:  addi s0, s0, -1
        bnez s0, again
        li   a7, 93
        ecall
double: slli a0, a0, 1
        ret
deep:   addi sp, sp, -16
        sw   ra, 0(sp)
        call double
        addi t0, a0, 0
        call double
        lw   ra, 0(sp)
        addi sp, sp, 16
        ret
"""


FEW_CALLS = CALLS.replace("mv   s0, a0", "li   s0, 4")  # ends after 8 more instructions


def line_of_calls(text):
    """The number of the first line of CALLS that contains a text."""
    return next(n for n, line in enumerate(CALLS.splitlines(), 1) if text in line)


STORE_LOOP = """
        .core cp
_start: li   s0, 40
        la   s3, data
loop:   addi s1, s1, 3
        andi s2, s1, 7
        sw   s1, 4(s3)
        addi s0, s0, -1
        bnez s0, loop
        li   a7, 93
        ecall
        .section .data.cp
data:   .word 0, 0, 0
"""

LONG_LOOP = """
        .core cp
_start: li   s0, 10000000
loop:   addi s1, s1, 3
        addi s0, s0, -1
        bnez s0, loop
        li   a7, 93
        li   a0, 7
        ecall
"""

VERY_LONG_LOOP = (
    ".core cp\n_start: li s0, 2000000000\nloop: addi s0, s0, -1\nbnez s0, loop\nebreak\n"
)
HELLO = """
        .core cp
_start: li   a7, 64
        li   a0, 1
        la   a1, text
        li   a2, 6
        ecall
        li   a0, 3
        li   a7, 93
        ecall
        .section .data.cp
text:   .ascii "hello\\n"
"""
