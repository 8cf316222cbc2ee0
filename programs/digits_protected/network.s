# network.s - the digits perceptron of programs/digits_mlp on the SIMD core, its weights in a random order.
#
# A source that sets SCOPE includes this. A node multiplies four blocks of sixteen inputs by its weights
# as they are stored: pmac takes the order of each block and finds there which weight is an input's. The
# caller gives shuffled weights and their orders; neither is in the program.
#
# Two nodes go side by side, since a pmac waits for the one before that adds to the same register.
# vr0-vr3 inputs, vr4-vr7 orders, vr8 vr9 sums, vr10-vr13 weights, vr15 zeros; s0 weights, s1 orders,
# s2 biases, s3 results, s4 nodes, s5 images, s6 logits, s7 how many images.

        .equ    IMAGES, 80
        .equ    INPUTS, 64              # of every layer
        .equ    LANES, 16               # of a block, and bytes of its order
        .equ    SHIFT1, 4               # as digits_mlp has them
        .equ    SHIFT2, 7

        .input  w1, int8, 64, INPUTS, at=unit0
        .input  w2, int8, 64, INPUTS, at=unit0
        .input  w3, int8, 10, INPUTS, at=unit0
        .input  b1, int32, 64, 4, at=unit0      # a bias in lane 0 of what products are added to
        .input  b2, int32, 64, 4, at=unit0
        .input  b3, int32, 10, 4, at=unit0
        .if     SCOPE != PLAIN
        .input  order, uint8, ORDERS, 4, LANES, at=unit0
        .endif
        .input  x, int8, IMAGES, INPUTS
        .output y, int32, IMAGES, 10

        .balign 16
sums:   .space  64 * 4
identity:
        .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

# The orders of the four blocks at s1, which then points behind them.
        .macro  orders
        vld     vr4, LANES * 0(s1)
        vld     vr5, LANES * 1(s1)
        vld     vr6, LANES * 2(s1)
        vld     vr7, LANES * 3(s1)
        addi    s1, s1, LANES * 4
        .endm

# Add a block's products of two nodes, whose orders are in o0 and o1.
        .macro  products block, w0, w1, o0, o1
        vld     \w0, LANES * \block(s0)
        vld     \w1, INPUTS + LANES * \block(s0)
        .if     SCOPE == NODE
        vld     \o0, LANES * \block(s1)
        vld     \o1, LANES * (4 + \block)(s1)
        .endif
        pmac.s8 vr8, vr\block, \w0, \o0, acc
        pmac.s8 vr9, vr\block, \w1, \o1, acc
        .endm

# The sums of a layer's nodes to s3.
        .macro  layer number, nodes
        la      s0, w\number
        la      s2, b\number
        li      s4, \nodes
        .if     SCOPE == LAYER
        orders
        .endif
1:      vld     vr8, 0(s2)
        vld     vr9, 16(s2)
        .if     SCOPE == GROUP
        orders
        .endif
        .if     SCOPE == NODE
        products 0, vr10, vr11, vr4, vr5
        products 1, vr12, vr13, vr6, vr7
        products 2, vr10, vr11, vr4, vr5
        products 3, vr12, vr13, vr6, vr7
        addi    s1, s1, LANES * 4 * 2
        .else
        products 0, vr10, vr11, vr4, vr4
        products 1, vr12, vr13, vr5, vr5
        products 2, vr10, vr11, vr6, vr6
        products 3, vr12, vr13, vr7, vr7
        .endif
        addi    s0, s0, INPUTS * 2
        addi    s2, s2, 16 * 2
        addi    s4, s4, -2
        vsum.w  vr8, vr8
        vsum.w  vr9, vr9
        addi    s3, s3, 4 * 2
        vext.w  t0, vr8, 0
        vext.w  t1, vr9, 0
        sw      t0, -8(s3)
        sw      t1, -4(s3)
        bnez    s4, 1b
        .endm

# A layer whose sums, without what is below zero, become the inputs of the next one.
        .macro  hidden number, nodes, shift
        la      s3, sums
        layer   \number, \nodes
        la      s3, sums
        .irp    block, 0, 1, 2, 3
        vld     vr10, 64 * \block(s3)
        vld     vr11, 64 * \block + 16(s3)
        vld     vr12, 64 * \block + 32(s3)
        vld     vr13, 64 * \block + 48(s3)
        vmax.w  vr10, vr10, vr15
        vmax.w  vr11, vr11, vr15
        vmax.w  vr12, vr12, vr15
        vmax.w  vr13, vr13, vr15
        vnarrow.w vr10, vr10, vr11, \shift
        vnarrow.w vr12, vr12, vr13, \shift
        vnarrow.h vr\block, vr10, vr12, 0
        .endr
        .endm

        .core   vc
_start: la      s5, x
        la      s6, y
        li      s7, IMAGES
        vsplat.w vr15, zero
        .if     SCOPE == PLAIN
        la      s1, identity
        vld     vr4, 0(s1)
        vmov    vr5, vr4
        vmov    vr6, vr4
        vmov    vr7, vr4
        .endif
        .if     SCOPE == NET
        la      s1, order
        orders
        .endif

image:  vld     vr0, LANES * 0(s5)
        vld     vr1, LANES * 1(s5)
        vld     vr2, LANES * 2(s5)
        vld     vr3, LANES * 3(s5)
        .if     SCOPE > NET
        la      s1, order
        .endif
        hidden  1, 64, SHIFT1
        hidden  2, 64, SHIFT2
        mv      s3, s6
        layer   3, 10
        addi    s5, s5, INPUTS
        addi    s6, s6, 10 * 4
        addi    s7, s7, -1
        bnez    s7, image
        li      a0, 0
        li      a7, 93
        ecall
