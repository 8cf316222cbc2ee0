# dma brings 64 pieces of 16 bytes by a transfer each, and cp waits for each. Mended: one transfer.
        .device tiny
        .input  x, int8, 1024
        .output y, int32, 4
        .equ    UNIT, 0x10000000
        .equ    COUNT, 64
        .core   cp
_start: la      a0, take
        .ifndef MENDED
        li      s0, COUNT
        li      s1, UNIT
        la      s2, x
1:      sw      s1, 0(a0)
        sw      s2, 4(a0)
        dma.copy zero, a0               # here
        dma.wait zero
        addi    s1, s1, 16
        addi    s2, s2, 16
        addi    s0, s0, -1
        bnez    s0, 1b
        .else
        dma.copy zero, a0
        .endif
        dma.wait zero
        la      a0, give
        dma.copy zero, a0
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
        .ifndef MENDED
take:   .word   UNIT, x, 16, 1, 0, 0
        .else
take:   .word   UNIT, x, 1024, 1, 0, 0
        .endif
give:   .word   y, UNIT, 16, 1, 0, 0
