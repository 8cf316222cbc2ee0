# vc sums what it has in registers into one register, so that each addition waits for the one before.
# Mended: into four registers, whose sum comes last.
        .device tiny
        .output y, int8, 16
        .core   vc
        vsplat.w vr0, zero
        li      t0, 3
        vsplat.b vr1, t0
        .irp    k, 2, 3, 4
        vsplat.w vr\k, zero
        .endr
        li      s2, 60
1:      .rept   3
        .ifndef MENDED
        .rept   4
        vadd.b  vr0, vr0, vr1           # here
        .endr
        .else
        vadd.b  vr0, vr0, vr1
        vadd.b  vr2, vr2, vr1
        vadd.b  vr3, vr3, vr1
        vadd.b  vr4, vr4, vr1
        .endif
        .endr
        addi    s2, s2, -1
        bnez    s2, 1b
        .ifdef  MENDED
        vadd.b  vr0, vr0, vr2
        vadd.b  vr3, vr3, vr4
        vadd.b  vr0, vr0, vr3
        .endif
        la      t0, y
        vst     vr0, (t0)
        li      a0, 0
        li      a7, 93
        ecall
