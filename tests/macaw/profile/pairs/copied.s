# vc copies 256 bytes one by one. Mended: vector by vector.
        .device tiny
        .output y, int8, 256
        .core   vc
        li      s0, 0x10000000
        la      s1, y
        li      s2, 16
1:      .ifndef MENDED
        .irp    k, 0, 4, 8, 12
        lbu     t0, \k(s0)
        lbu     t1, \k + 1(s0)
        lbu     t2, \k + 2(s0)
        lbu     t3, \k + 3(s0)
        sb      t0, \k(s1)
        sb      t1, \k + 1(s1)          # here
        sb      t2, \k + 2(s1)
        sb      t3, \k + 3(s1)
        .endr
        .else
        vld     vr0, (s0)
        vst     vr0, (s1)
        .endif
        addi    s0, s0, 16
        addi    s1, s1, 16
        addi    s2, s2, -1
        bnez    s2, 1b
        li      a0, 0
        li      a7, 93
        ecall
