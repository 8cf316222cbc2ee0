# vc adds two rows of on-chip memory and stores the sums byte by byte. Mended: as one vector.
        .device tiny
        .output y, int8, 16
        .core   vc
        li      s0, 0x10000000
        li      s1, 0x10000400
        li      s2, 40
1:      vld     vr0, (s0)
        vld     vr1, 16(s0)
        addi    s0, s0, 16
        addi    s2, s2, -1
        vadd.b  vr0, vr0, vr1
        .ifndef MENDED
        .irp    lane, 0, 4, 8, 12
        vext.b  t0, vr0, \lane
        vext.b  t1, vr0, \lane + 1
        vext.b  t2, vr0, \lane + 2
        vext.b  t3, vr0, \lane + 3
        sb      t0, \lane(s1)
        sb      t1, \lane + 1(s1)       # here
        sb      t2, \lane + 2(s1)
        sb      t3, \lane + 3(s1)
        .endr
        .else
        vst     vr0, (s1)
        .endif
        addi    s1, s1, 16
        bnez    s2, 1b
        li      a0, 0
        li      a7, 93
        ecall
