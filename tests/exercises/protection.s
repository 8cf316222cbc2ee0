# dot.s - a dot product of 256 numbers, of which the weights are stored in a secret order.
#
# The weights of each block of sixteen are shuffled. Element i of a block of x meets the weight at
# place order[i] of that block.
        .device tiny
        .equ    BLOCKS, 16
        .input  x, int8, 256
        .input  order, uint8, BLOCKS, 16
        .output y, int32, 1

        .core   vc
        la      a0, x
        la      a1, weights
        la      a2, order
        vsplat.w vr3, zero
        li      t1, BLOCKS
loop:   vld     vr0, (a0)
        vld     vr1, (a1)
        vld     vr2, (a2)
        pmac.s8 vr3, vr0, vr1, vr2, acc
        addi    a0, a0, 16
        addi    a1, a1, 16
        addi    a2, a2, 16
        addi    t1, t1, -1
        bnez    t1, loop
        vsum.w  vr3, vr3
        vext.w  a3, vr3, 0
        la      a4, y
        sw      a3, (a4)
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 16
weights: .npy    "weights.npy"          # int8 (256), shuffled
