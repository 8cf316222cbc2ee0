# dot.s - a dot product on vc, the SIMD core: y = sum of x[i] * w[i], 16 products a turn
#
# vc executes RISC-V (RV32IM) and has 16 vector registers of 128 bits, vr0 to vr15. Its `pmac`
# multiplies lane i of x with lane order[i] of the weights. Here the order is 0, 1, 2, ...;
# shuffled weights and their order would give the same sum (`macaw isa pmac.s8`).

        .device tiny
        .equ    COUNT, 64               # elements
        .equ    LANES, 16               # bytes of a vector register

# You give x to a run and get y from it. Tensors and data lie in external memory.
        .input  x, int8, COUNT
        .output y, int32, 1

        .core   vc                      # from here on: the program of vc
        la      a0, x
        la      a1, weights
        la      t0, in_order
        vld     vr2, (t0)
        vsplat.w vr3, zero              # four sums of 32 bits, all 0
        li      t1, COUNT / LANES       # turns of the loop
loop:   vld     vr0, (a0)
        vld     vr1, (a1)
        # acc: add 16 products to the sums that vr3 has
        pmac.s8 vr3, vr0, vr1, vr2, acc
        addi    a0, a0, LANES
        addi    a1, a1, LANES
        addi    t1, t1, -1
        bnez    t1, loop
        vsum.w  vr3, vr3                # the four sums become one, in lane 0
        vext.w  a2, vr3, 0
        la      a3, y
        sw      a2, (a3)
        li      a0, 0                   # exit with code 0
        li      a7, 93
        ecall

        .data
        .balign 16                      # vld wants multiples of 16
weights:  .npy    "weights.npy"         # int8 (64)
in_order: .byte   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15

# There is no part for cp, the command processor. So it gets the default program: start vc, wait
# until it exits. `macaw dis` shows it.
