# Pseudo-instructions of one instruction.
        .core   cp
        mv      a0, a1
        not     a2, a3
        neg     a4, a5
        seqz    a6, a7
        snez    s0, s1
        sltz    t0, t1
        sgtz    t2, t3
        nop
#! bytes .text.cp 13850500 13c6f6ff 3307f040 13b81800
#! bytes .text.cp 33349000 b3220300 b323c001 13000000
