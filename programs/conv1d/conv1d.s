# conv1d.s - a 1-D convolution of int16 by eight taps: y[n] = sum of x[n + k] * w[k] / 2**8,
# rounded half to even and clamped to int16. Plain taps, then shuffled ones.
#
# A window begins at any element: a strided load takes eight lanes that are aligned to 2 bytes.
# Four windows are summed side by side, so that none waits for the pmac before it.

        .device tiny
        .equ    OUTPUTS, 56
        .input  x, int16, 64            # 63 are used
        .input  order, uint8, 1, 1, 8
        .output y, int16, 2, 56         # plain, shuffled
        .output cycles, uint32, 2

        .core   vc
        la      s0, y
        la      s1, cycles
        la      a1, taps
        la      a2, in_order
        call    measured
        la      a1, shuffled
        la      a2, order
        call    measured
        li      a0, 0
        li      a7, 93
        ecall

measured:
        mv      s11, ra
        csrr    s10, cycle
        call    convolve
        csrr    t0, cycle
        sub     t0, t0, s10
        sw      t0, (s1)
        addi    s1, s1, 4
        jr      s11

# a1: eight taps; a2: their order, eight bytes; s0: results.
convolve:
        vld     vr1, (a1)
        lw      t0, (a2)
        lw      t1, 4(a2)
        vsplat.w vr2, t0                # bytes 0 to 3, then 4 to 7
        vins.w  vr2, t1, 1
        la      t0, x
        li      t1, OUTPUTS
        li      t2, 2                   # a stride of one element
1:      addi    t3, t0, 2
        addi    t4, t0, 4
        addi    t5, t0, 6
        vlds.h  vr4, t0, t2
        vlds.h  vr5, t3, t2
        vlds.h  vr6, t4, t2
        vlds.h  vr7, t5, t2
        pmac.s16 vr8, vr4, vr1, vr2     # two sums of 64 bits each
        pmac.s16 vr9, vr5, vr1, vr2
        pmac.s16 vr10, vr6, vr1, vr2
        pmac.s16 vr11, vr7, vr1, vr2
        vext.w  a3, vr8, 0              # eight products of 16 by 16 bits fit in 35, and these
        vext.w  a4, vr8, 2              # taps and inputs in 32
        add     a3, a3, a4
        vins.w  vr12, a3, 0
        vext.w  a3, vr9, 0
        vext.w  a4, vr9, 2
        add     a3, a3, a4
        vins.w  vr12, a3, 1
        vext.w  a3, vr10, 0
        vext.w  a4, vr10, 2
        add     a3, a3, a4
        vins.w  vr12, a3, 2
        vext.w  a3, vr11, 0
        vext.w  a4, vr11, 2
        add     a3, a3, a4
        vins.w  vr12, a3, 3
        vnarrow.w vr12, vr12, vr12, 8
        vext.w  a3, vr12, 0             # four results are eight bytes
        vext.w  a4, vr12, 1
        sw      a3, (s0)
        sw      a4, 4(s0)
        addi    s0, s0, 8
        addi    t0, t0, 8
        addi    t1, t1, -4
        bnez    t1, 1b
        ret

        .data
        .balign 16
in_order: .byte   0, 1, 2, 3, 4, 5, 6, 7
        .balign 16
taps:     .npy    "w.npy"
shuffled: .npy    "shuffled.npy"
