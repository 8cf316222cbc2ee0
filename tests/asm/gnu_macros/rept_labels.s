        .text
        .rept 3
1:      addi a0, a0, 1
        bnez a0, 1b
        .endr
