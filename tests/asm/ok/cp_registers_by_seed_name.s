# gr0 to gr31 are seed 002's names: the same bits as x0 to x31.
        .core   cp
        add     gr0, gr1, gr2
        add     x0, x1, x2
        addi    gr31, gr30, 1
        addi    t6, t5, 1
#! bytes .text.cp 33802000 33802000 930f1f00 930f1f00
