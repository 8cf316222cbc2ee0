# vc multiplies two vectors of external memory element by element, and uses what it loads at once.
# Mended: loads of four turns are together, before the first use.
        .device tiny
        .input  x, int8, 1024
        .input  w, int8, 1024
        .output y, int8, 16
        .core   vc
        la      s0, x
        la      s1, w
        li      s2, 1024
        add     s2, s2, s0
        vsplat.w vr7, zero
        .ifndef MENDED
1:      vld     vr0, (s0)
        vld     vr1, (s1)
        vmul.b  vr0, vr0, vr1           # here
        vadd.b  vr7, vr7, vr0
        addi    s0, s0, 16
        addi    s1, s1, 16
        bne     s0, s2, 1b
        .else
1:      vld     vr0, (s0)
        vld     vr1, (s1)
        vld     vr2, 16(s0)
        vld     vr3, 16(s1)
        vld     vr4, 32(s0)
        vld     vr5, 32(s1)
        vmul.b  vr0, vr0, vr1
        vadd.b  vr7, vr7, vr0
        vld     vr0, 48(s0)
        vld     vr1, 48(s1)
        vmul.b  vr2, vr2, vr3
        vadd.b  vr7, vr7, vr2
        vmul.b  vr4, vr4, vr5
        vadd.b  vr7, vr7, vr4
        addi    s0, s0, 64
        addi    s1, s1, 64
        vmul.b  vr0, vr0, vr1
        vadd.b  vr7, vr7, vr0
        bne     s0, s2, 1b
        .endif
        la      t0, y
        vst     vr7, (t0)
        li      a0, 0
        li      a7, 93
        ecall
