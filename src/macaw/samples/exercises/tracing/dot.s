# dot.s - a dot product that is to measure itself by the registers of the trace block.
#
# `measured` gets three numbers about the loop, from its first vld to its last bnez:
#   measured[0]  cycles from the begin of its first instruction to the end of its last
#   measured[1]  uses of compute units
#   measured[2]  beats that external memory delivered
        .device tiny
        .equ    COUNT, 256
        .input  x, int8, COUNT
        .output y, int32, 1
        .output measured, uint32, 3

        .core   vc
        la      a0, x
        la      a1, weights
        la      a2, in_order
        vld     vr2, (a2)
        vsplat.w vr3, zero
        li      t1, COUNT / 16
loop:   vld     vr0, (a0)
        vld     vr1, (a1)
        pmac.s8 vr3, vr0, vr1, vr2, acc
        addi    a0, a0, 16
        addi    a1, a1, 16
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
weights:  .npy    "weights.npy"
in_order: .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
