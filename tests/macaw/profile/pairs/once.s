# dma brings two tables, and vc sums one, then the other; cp waits for both before it starts vc.
# Mended: it waits for the second one after it has started vc.
        .device tiny
        .input  x, int8, 2048
        .input  w, int8, 4096
        .output y, int8, 16
        .output z, int8, 16
        .equ    UNIT, 0x10000000
        .equ    VC, 2
        .core   cp
_start: li      s5, VC
        li      s6, 1 << VC
        la      s8, args
        la      a0, take
        dma.copy zero, a0
        dma.wait zero
        la      a0, more
        dma.copy zero, a0
        .ifndef MENDED
        dma.wait zero                   # here
        .endif
        la      s7, first
        core.start s5, s7
        .ifdef MENDED
        dma.wait zero
        .endif
        core.wait s6
        la      s7, second
        core.start s5, s7
        core.wait s6
        li      a0, 0
        li      a7, 93
        ecall
        .section .data.cp
        .balign 4
take:   .word   UNIT, x, 2048, 1, 0, 0
more:   .word   UNIT + 2048, w, 4096, 1, 0, 0
args:   .word   0
        .core   vc
        .macro  sum     from, size, to
        li      a0, \from
        li      a1, \from + \size
        vsplat.w vr8, zero
        vsplat.w vr9, zero
        vsplat.w vr10, zero
        vsplat.w vr11, zero
1:      .irp    k, 0, 1, 2, 3, 4, 5, 6, 7
        vld     vr\k, 16 * \k(a0)
        .endr
        addi    a0, a0, 128
        vadd.b  vr8, vr8, vr0
        vadd.b  vr9, vr9, vr1
        vadd.b  vr10, vr10, vr2
        vadd.b  vr11, vr11, vr3
        vadd.b  vr8, vr8, vr4
        vadd.b  vr9, vr9, vr5
        vadd.b  vr10, vr10, vr6
        vadd.b  vr11, vr11, vr7
        bne     a0, a1, 1b
        vadd.b  vr8, vr8, vr9
        vadd.b  vr10, vr10, vr11
        vadd.b  vr8, vr8, vr10
        la      t0, \to
        vst     vr8, (t0)
        li      a0, 0
        li      a7, 93
        ecall
        .endm
first:  
        sum     UNIT, 2048, y
second: sum     UNIT + 2048, 4096, z
