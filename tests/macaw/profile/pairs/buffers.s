# dma brings tiles of 1,024 bytes to on-chip memory, and vc sums each of them; cp commands both.
# Mended: the next tile comes while vc sums the one before, in two buffers.
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
        .ifndef MENDED
1:      sw      s1, 4(s4)
        dma.copy zero, s4
        dma.wait zero                   # here
        sw      s3, (s8)
        core.start s5, s7
        core.wait s6
        .else
        sw      s1, 4(s4)
        dma.copy zero, s4
1:      dma.wait zero
        core.wait s6
        sw      s3, (s8)
        core.start s5, s7
        xori    s3, s3, BYTES
        li      t0, 1
        beq     s0, t0, 2f
        li      t1, BYTES
        add     t1, t1, s1
        sw      s3, (s4)
        sw      t1, 4(s4)
        dma.copy zero, s4
2:
        .endif
        li      t1, BYTES
        add     s1, s1, t1
        addi    s0, s0, -1
        bnez    s0, 1b
        core.wait s6
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
