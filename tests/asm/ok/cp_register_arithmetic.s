# Register-register operations of RV32I.
        .core   cp
        add     a0, a1, a2
        sub     t0, t1, t2
        sll     s0, s1, s2
        slt     x1, x2, x3
        sltu    x31, x30, x29
        xor     zero, ra, sp
        srl     gp, tp, t3
        sra     a7, a6, a5
        or      s11, s10, s9
        and     t6, t5, t4
#! bytes .text.cp 3385c500 b3027340 33942401 b3203100
#! bytes .text.cp b33fdf01 33c02000 b351c201 b358f840
#! bytes .text.cp b36d9d01 b37fdf01
