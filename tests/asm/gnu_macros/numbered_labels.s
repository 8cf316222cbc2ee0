        .text
        .macro wait r
1:      addi \r, \r, -1
        bnez \r, 1b
        .endm
        wait a0
        wait a1
        j 1b
        j 1f
1:      nop
