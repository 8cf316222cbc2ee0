# dot.s - a dot product of signed bytes, sixteen a turn: with weights as they are, and shuffled.

        .device tiny
        .equ    BLOCKS, 16
        .input  x, int8, 256
        .input  order, uint8, 1, 16, 16         # an order a block
        .output y, int32, 2                     # plain, shuffled
        .output cycles, uint32, 2

        .core   vc
        la      a1, weights
        la      a2, in_order
        li      a3, 0                   # the plain order is one for all blocks
        la      s0, y
        la      s1, cycles
        call    measured
        la      a1, shuffled
        la      a2, order
        li      a3, 16
        call    measured
        li      a0, 0
        li      a7, 93
        ecall

measured:
        mv      s11, ra
        csrr    s10, cycle
        call    dot
        sw      a0, (s0)
        csrr    t0, cycle
        sub     t0, t0, s10
        sw      t0, (s1)
        addi    s0, s0, 4
        addi    s1, s1, 4
        jr      s11

# a1: weights; a2: orders, a3 bytes apart. Gives the sum in a0.
dot:    la      t0, x
        vsplat.w vr3, zero
        li      t1, BLOCKS
1:      vld     vr0, (t0)
        vld     vr1, (a1)
        vld     vr2, (a2)
        pmac.s8 vr3, vr0, vr1, vr2, acc         # four sums of 32 bits
        addi    t0, t0, 16
        addi    a1, a1, 16
        add     a2, a2, a3
        addi    t1, t1, -1
        bnez    t1, 1b
        vsum.w  vr3, vr3                        # one of 64
        vext.w  a0, vr3, 0
        ret

        .data
        .balign 16
in_order: .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
weights:  .npy    "w.npy"
shuffled: .npy    "shuffled.npy"
