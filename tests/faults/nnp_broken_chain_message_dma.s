# The same message by the dma.
#! fault broken chain: a message: iterations is at least 1, not 0; transfer 1 of cp: .*
#! core dma
        .device tiny
        .core   cp
        la      a0, move
        dma.copy a1, a0                 #! here
        dma.wait zero
        .section .data.cp
        .balign 4
move:   .word   0x303a0000, message, 12, 1, 0, 0
        .data
message: .half  0
        .byte   1, 0
        .word   0, 0x00030000
