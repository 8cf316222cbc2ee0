# dma brings 256 rows of 4 bytes that lie one after the other. Mended: as one row of 1,024 bytes.
        .device tiny
        .input  x, int8, 1024
        .output y, int32, 4
        .equ    UNIT, 0x10000000
        .core   cp
_start: la      a0, take
        dma.copy zero, a0               # here
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
take:   .word   UNIT, x, 4, 256, 4, 4
        .else
take:   .word   UNIT, x, 1024, 1, 0, 0
        .endif
give:   .word   y, UNIT, 16, 1, 0, 0
