# Register-immediate operations, at both ends of 12 bits.
        .core   cp
        addi    a0, a1, -2048
        addi    a0, a1, 2047
        slti    a2, a3, -1
        sltiu   a4, a5, 1
        xori    a6, a7, 0x7ff
        ori     s0, s1, 0
        andi    t0, t1, 0b1111
#! bytes .text.cp 13850580 1385f57f 13a6f6ff 13b71700
#! bytes .text.cp 13c8f87f 13e40400 9372f300
