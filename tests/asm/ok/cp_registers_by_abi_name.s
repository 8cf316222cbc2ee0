# Every ABI name.
        .core   cp
        add     zero, ra, sp
        add     gp, tp, t0
        add     t1, t2, s0
        add     s1, a0, a1
        add     a2, a3, a4
        add     a5, a6, a7
        add     s2, s3, s4
        add     s5, s6, s7
        add     s8, s9, s10
        add     s11, t3, t4
        add     t5, t6, fp
#! bytes .text.cp 33802000 b3015200 33838300 b304b500
#! bytes .text.cp 3386e600 b3071801 33894901 b30a7b01
#! bytes .text.cp 338cac01 b30dde01 338f8f00
