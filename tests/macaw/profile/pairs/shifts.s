# cp divides by 8 with the instruction for any divisor. Mended: with a shift.
        .device tiny
        .output y, int32, 1
        .core   cp
_start: li      s0, 100
        li      s1, 0
        li      s2, 8
        .ifndef MENDED
1:      divu    t0, s0, s2              # here
        .else
1:      srli    t0, s0, 3
        .endif
        add     s1, s1, t0
        addi    s0, s0, -1
        bnez    s0, 1b
        la      t0, y
        sw      s1, (t0)
        li      a0, 0
        li      a7, 93
        ecall
