# The last row of a transfer leaves external memory.
#! fault out-of-range access: source of row 3, of 64 bytes at 0x90000020: external memory is 0x80000000 to 0x8fffffff; transfer 1 of cp: .*
#! core cp
        .device tiny
        .core   cp
        la      a0, transfer
        dma.copy a1, a0                 #! here
        .section .data.cp
        .align  2
transfer: .word 0x10000000, 0x8fffff00, 64, 5, 64, 96
