# From the end of a unit's half the stride leads into nothing.
#! fault out-of-range access: load by a stride from 0x1007fff8 to 0x10080000: the lanes lie in several memories
#! core vc
        .core   vc
        lui     a0, 0x10080
        addi    a0, a0, -8
        li      a1, 8
        vlds.d  vr0, a0, a1             #! here
