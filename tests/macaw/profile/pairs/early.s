# dma brings the next tile before vc sums the one that is there: cp waits for it one instruction too
# early. Mended: after it has started vc.
        .device tiny
        .input  x, int8, 8192
        .output y, int8, 16
        .equ    TILES, 8
        .equ    BYTES, 1024
        .equ    UNIT, 0x10000000
        .equ    VC, 2
        .core   cp
_start: li      s0, TILES
        la      s1, x
        li      s3, UNIT
        la      s4, take
        li      s5, VC
        li      s6, 1 << VC
        la      s7, work
        la      s8, args
        sw      s1, 4(s4)
        dma.copy zero, s4
        dma.wait zero
1:      li      t1, BYTES
        add     s1, s1, t1
        sw      s3, (s8)
        xori    s3, s3, BYTES
        sw      s3, (s4)
        sw      s1, 4(s4)
        dma.copy zero, s4
        .ifndef MENDED
        dma.wait zero                   # here
        .endif
        core.start s5, s7
        .ifdef MENDED
        dma.wait zero
        .endif
        core.wait s6
        addi    s0, s0, -1
        bnez    s0, 1b
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
take:   .word   UNIT, 0, BYTES, 1, 0, 0
args:   .word   0
        .core   vc
work:   la      t0, args
        vsplat.w vr8, zero
        vsplat.w vr9, zero
        lw      a0, (t0)
        addi    a1, a0, BYTES
1:      .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        vld     vr\k, 16 * \k(a0)
        .endr
        addi    a0, a0, 128
        vadd.b  vr8, vr8, vr0
        vadd.b  vr9, vr9, vr1
        vadd.b  vr8, vr8, vr2
        vadd.b  vr9, vr9, vr3
        vadd.b  vr8, vr8, vr4
        vadd.b  vr9, vr9, vr5
        vadd.b  vr8, vr8, vr6
        vadd.b  vr9, vr9, vr7
        bne     a0, a1, 1b
        vadd.b  vr8, vr8, vr9
        la      t0, y
        vst     vr8, (t0)
        li      a0, 0
        li      a7, 93
        ecall
