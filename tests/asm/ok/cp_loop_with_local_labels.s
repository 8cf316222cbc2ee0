# The same number may be used again and again.
        .core   cp
        li      a0, 3
1:      addi    a0, a0, -1
        bnez    a0, 1b
        beqz    a0, 1f
        nop
1:      bnez    a0, 1b
        ret
#! bytes .text.cp 13053000 1305f5ff e31e05fe 63040500
#! bytes .text.cp 13000000 63100500 67800000
