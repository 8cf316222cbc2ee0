# fig8.s - the network of seed 002, Fig. 8, with its weights in five orders: as they are, and
# shuffled for the whole net, by layers, by groups of two nodes, and node by node.
#
# Node n of a layer gives b[n] + sum of x[i] * w[n][i]: the bias goes into a3, pmac adds to it.
# The weights are part of the program, the orders are not: they come with the inputs.

        .device tiny
        .input  x, float32, 4
        .input  order_net, uint8, 1, 1, 4
        .input  order_layer, uint8, 2, 1, 4
        .input  order_group, uint8, 3, 1, 4
        .input  order_node, uint8, 6, 1, 4
        .output y, float32, 5, 6        # nodes 4 to 9; a row for each of the five
        .output cycles, uint32, 5

        .core   vc
        la      s0, ways
        li      s1, 5
        la      s2, y
        la      s3, cycles
1:      csrr    s11, cycle
        call    network
        csrr    t0, cycle
        sub     t0, t0, s11
        sw      t0, (s3)
        addi    s3, s3, 4
        addi    s0, s0, 12
        addi    s1, s1, -1
        bnez    s1, 1b
        li      a0, 0
        li      a7, 93
        ecall

# The six nodes. s0: weights, orders, which order each node takes; s2: where the results go.
network: lw      a0, (s0)               # weights, 16 bytes a node
        lw      a1, 4(s0)               # orders, 4 bytes each
        lw      a2, 8(s0)               # for each node the number of its order
        la      a3, biases
        la      t0, x
        vld     vr0, (t0)               # a0: what the layer gets
        li      a4, 4
        li      a5, 2                   # layers
        la      a6, layer
layer_of_nodes:
        mv      t2, a6
nodes:  lw      t0, (a3)                # a3 of pmac begins as the bias
        vsplat.w vr3, zero
        vins.w  vr3, t0, 0
        vld     vr1, (a0)               # a1: the node's weights, in whatever order they are
        lbu     t1, (a2)
        slli    t1, t1, 2
        add     t1, t1, a1
        lw      t1, (t1)
        vsplat.w vr2, t1                # a2: the order, a byte an entry
        pmac.f32 vr3, vr0, vr1, vr2, acc
        vext.f32 t0, vr3, 0
        sw      t0, (t2)
        sw      t0, (s2)
        addi    t2, t2, 4
        addi    s2, s2, 4
        addi    a0, a0, 16
        addi    a2, a2, 1
        addi    a3, a3, 4
        addi    a4, a4, -1
        bnez    a4, nodes
        vld     vr0, (a6)               # nodes 4 to 7 are the inputs of 8 and 9
        li      a4, 2
        addi    a5, a5, -1
        bnez    a5, layer_of_nodes
        ret

        .data
        .balign 16
plain:  .npy    "w1.npy"
        .npy    "w2.npy"
net:    .npy    "net1.npy"
        .npy    "net2.npy"
layers: .npy    "layer1.npy"
        .npy    "layer2.npy"
groups: .npy    "group1.npy"
        .npy    "group2.npy"
each:   .npy    "node1.npy"
        .npy    "node2.npy"
biases: .npy    "b.npy"
        .balign 4
ways:   .word   plain, in_order, all
        .word   net, order_net, all
        .word   layers, order_layer, by_layer
        .word   groups, order_group, by_group
        .word   each, order_node, by_node
in_order: .byte   0, 1, 2, 3
all:      .byte   0, 0, 0, 0, 0, 0
by_layer: .byte   0, 0, 0, 0, 1, 1
by_group: .byte   0, 0, 1, 1, 2, 2
by_node:  .byte   0, 1, 2, 3, 4, 5
        .balign 16
layer:  .space  16
