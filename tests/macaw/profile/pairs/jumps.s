# vc sums the numbers up to 400 with one addition a turn. Mended: with eight.
        .device tiny
        .output y, int32, 1
        .core   vc
        li      s0, 400
        li      s1, 0
        .ifndef MENDED
1:      add     s1, s1, s0
        addi    s0, s0, -1
        bnez    s0, 1b                  # here
        .else
1:      .rept   8
        add     s1, s1, s0
        addi    s0, s0, -1
        .endr
        bnez    s0, 1b
        .endif
        la      t0, y
        sw      s1, (t0)
        li      a0, 0
        li      a7, 93
        ecall
