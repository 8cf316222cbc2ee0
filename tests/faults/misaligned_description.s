# The description of a transfer consists of words.
#! fault misaligned access: description of a transfer at 0x[0-9a-f]{7}2, which is no multiple of 4
#! core cp
        .core   cp
        la      a0, transfer + 2
        dma.copy a1, a0                 #! here
        .section .data.cp
        .align  2
transfer: .word 0x80000000, 0x80001000, 64, 1, 0, 0, 0
