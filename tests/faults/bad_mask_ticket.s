# dma.copy has given the ticket 1, and no other.
#! fault bad mask: there is no transfer 2, the last one started was 1
#! core cp
        .core   cp
        la      a0, transfer
        dma.copy a1, a0
        addi    a1, a1, 1
        dma.wait a1                     #! here
        .section .data.cp
        .align  2
transfer: .word 0x80000000, 0x80001000, 64, 1, 0, 0
