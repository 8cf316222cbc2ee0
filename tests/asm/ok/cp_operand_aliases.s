# add and its like take a number where the immediate form has one.
        .core   cp
        add     a0, a1, 5
        and     a0, a1, 5
        or      a0, a1, 5
        xor     a0, a1, 5
        sll     a0, a1, 5
        srl     a0, a1, 5
        sra     a0, a1, 5
        slt     a0, a1, 5
#! bytes .text.cp 13855500 13f55500 13e55500 13c55500
#! bytes .text.cp 13955500 13d55500 13d55540 13a55500
