# Each number is looked for by itself.
        .core   cp
1:      li      a0, 2
2:      addi    a0, a0, -1
        bnez    a0, 2b
        addi    a1, a1, -1
        bnez    a1, 1b
        j       2f
2:      ret
#! bytes .text.cp 13052000 1305f5ff e31e05fe 9385f5ff
#! bytes .text.cp e39805fe 6f004000 67800000
