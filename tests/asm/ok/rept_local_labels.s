# Numbered labels in each round are its own.
        .core cp
        .rept 2
1:      addi a0, a0, -1
        bnez a0, 1b
        .endr
#! bytes .text.cp 1305f5ff e31e05fe 1305f5ff e31e05fe
