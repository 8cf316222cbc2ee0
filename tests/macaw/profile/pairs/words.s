# vc stores the words of a vector register one by one. Mended: the register.
        .device tiny
        .output y, int32, 256
        .core   vc
        la      s1, y
        li      s2, 64
        li      t0, 5
        vsplat.w vr0, t0
1:      .ifndef MENDED
        .irp    k, 0, 1, 2, 3
        vext.w  t\k, vr0, \k
        .endr
        .irp    k, 0, 1, 2, 3
        sw      t\k, 4 * \k(s1)         # here
        .endr
        .else
        vst     vr0, (s1)
        .endif
        addi    s1, s1, 16
        addi    s2, s2, -1
        bnez    s2, 1b
        li      a0, 0
        li      a7, 93
        ecall
