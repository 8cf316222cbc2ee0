# The top bit of a vector register's field; vadd.b vr0, vr0, vr16 if there was one.
#! fault reserved bit set: the word 0x1100005b: vadd.b rs2: 16 is no vector register: the field's top bit is zero
#! core vc
        .core   vc
        .word   0x1100005b              #! here
