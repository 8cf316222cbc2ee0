# The multiplications of M.
        .core   cp
        mul     a0, a1, a2
        mulh    a3, a4, a5
        mulhsu  s0, s1, s2
        mulhu   t0, t1, t2
#! bytes .text.cp 3385c502 b316f702 33a42403 b3327302
