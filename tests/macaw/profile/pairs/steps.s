# vc fills 256 bytes one by one, four in each turn of a loop. Mended: with vectors.
        .device tiny
        .output y, int8, 256
        .core   vc
        li      t0, 5
        la      s1, y
        .ifndef MENDED
        li      s2, 64
1:      sb      t0, (s1)
        sb      t0, 1(s1)                # here
        sb      t0, 2(s1)
        sb      t0, 3(s1)
        addi    s1, s1, 4
        addi    s2, s2, -1
        bnez    s2, 1b
        .else
        li      s2, 16
        vsplat.b vr0, t0
1:      vst     vr0, (s1)
        addi    s1, s1, 16
        addi    s2, s2, -1
        bnez    s2, 1b
        .endif
        li      a0, 0
        li      a7, 93
        ecall
