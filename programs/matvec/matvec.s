# matvec.s - ten dense neurons of 64 inputs, int8 by int8: plain weights, then weights that were
# shuffled node by node. A node's bias begins its sum.

        .device tiny
        .equ    NODES, 10
        .equ    BLOCKS, 4
        .input  x, int8, 64
        .input  order, uint8, 10, 4, 16         # an order a block of a node
        .output y, int32, 2, 10                 # plain, shuffled
        .output cycles, uint32, 2

        .core   vc
        la      s0, y
        la      a1, weights
        la      a2, in_order
        li      a3, 0
        csrr    s1, cycle
        call    layer
        csrr    s2, cycle
        la      a1, shuffled
        la      a2, order
        li      a3, 16
        csrr    s3, cycle
        call    layer
        csrr    s4, cycle
        sub     s2, s2, s1
        sub     s4, s4, s3
        la      t0, cycles
        sw      s2, (t0)
        sw      s4, 4(t0)
        li      a0, 0
        li      a7, 93
        ecall

# a1: weights; a2: orders, a3 bytes from a block to the next; s0: results.
layer:  la      t0, x                   # 64 inputs stay in four registers
        vld     vr4, (t0)
        vld     vr5, 16(t0)
        vld     vr6, 32(t0)
        vld     vr7, 48(t0)
        la      t2, biases
        li      t1, NODES
1:      lw      t3, (t2)
        vsplat.w vr3, zero
        vins.w  vr3, t3, 0
        vld     vr8, (a1)               # all loads first: none waits for another
        vld     vr9, 16(a1)
        vld     vr10, 32(a1)
        vld     vr11, 48(a1)
        vld     vr12, (a2)
        add     a2, a2, a3
        vld     vr13, (a2)
        add     a2, a2, a3
        vld     vr14, (a2)
        add     a2, a2, a3
        vld     vr15, (a2)
        add     a2, a2, a3
        pmac.s8 vr3, vr4, vr8, vr12, acc
        pmac.s8 vr3, vr5, vr9, vr13, acc
        pmac.s8 vr3, vr6, vr10, vr14, acc
        pmac.s8 vr3, vr7, vr11, vr15, acc
        vsum.w  vr3, vr3
        vext.w  t3, vr3, 0
        sw      t3, (s0)
        addi    s0, s0, 4
        addi    t2, t2, 4
        addi    a1, a1, 16 * BLOCKS
        addi    t1, t1, -1
        bnez    t1, 1b
        ret

        .data
        .balign 16
in_order: .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
weights:  .npy    "w.npy"
shuffled: .npy    "shuffled.npy"
biases:   .npy    "b.npy"
