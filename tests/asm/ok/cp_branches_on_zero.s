# Branches that compare with zero.
        .core   cp
1:      beqz    a0, 1b
        bnez    a1, 1b
        blez    a2, 1b
        bgez    a3, 1b
        bltz    a4, 1b
        bgtz    a5, 1b
#! bytes .text.cp 63000500 e39e05fe e35cc0fe e3da06fe
#! bytes .text.cp e34807fe e346f0fe
