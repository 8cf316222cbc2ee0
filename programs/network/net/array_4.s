# array_4.s - cp's code of some layers. Written by macaw compile.
        .global array_4
        .core   cp
        .include "frame_1.inc"
# gp points to the record of the layer: words with the numbers after #.

array_4:

        addi    sp, sp, -16
        sw      ra, 12(sp)
        lw      s0, 0(gp)               # ALL_ROWS
        lw      s1, 4(gp)               # ALL_CORES
        li      s2, 0                   # m, n and k of the iteration that is loaded
        li      s3, 0
        li      s4, 0
        lw      s5, 8(gp)               # STEPS
        lw      s8, 12(gp)              # ping
        lw      s9, 16(gp)              # pong
        lw      a0, 20(gp)              # copies
        lw      a1, 24(gp)
1:      dma.copy zero, a0
        addi    a0, a0, BASE            # they have no base
        addi    a1, a1, -1
        bnez    a1, 1b
        call    load
        dma.wait zero
        mem.swap s0
        lw      a1, 28(gp)              # setup
        dispatch s0, a1
next:   mv      t0, s8
        mv      s8, s9
        mv      s9, t0
        lw      a1, LIST(s9)
        dispatch s0, a1                 # iteration i computes
        call    store                   # i - 1 goes out
        addi    s5, s5, -1
        beqz    s5, done
        call    step
        call    load                    # i + 1 comes in
done:   core.wait s1
        dma.wait zero
        mem.swap s0
        bnez    s5, next
        mv      s8, s9
        call    store                   # of the last iteration
        dma.wait zero
        lw      t0, 8(gp)               # STEPS
        andi    t0, t0, 1
        bnez    t0, 1f
        mem.swap s0                     # half 0 loads again
1:
        lw      ra, 12(sp)
        addi    sp, sp, 16
        ret

# The next tile: input stationary, loops m, k, n (seed 000 Fig. 7).
step:   addi    s3, s3, 1
        lw      t0, 32(gp)              # TILES_N
        blt     s3, t0, 1f
        li      s3, 0
        addi    s4, s4, 1
        lw      t0, 36(gp)              # TILES_K
        blt     s4, t0, 1f
        li      s4, 0
        addi    s2, s2, 1
1:      ret

# Bring the data of iteration (m, n, k) to the half of frame s8.
# s11: its list; s7: how much of the list's beginning is left out.
load:
        lw      t0, 40(gp)              # TILE_M
        mul     t3, s2, t0
        lw      t0, 44(gp)              # LAST_M
        ble     t3, t0, 1f
        mv      t3, t0
1:
        lw      t0, 48(gp)              # TILE_N
        mul     t4, s3, t0
        lw      t0, 52(gp)              # LAST_N
        ble     t4, t0, 1f
        mv      t4, t0
1:
        lw      t0, 56(gp)              # TILE_K
        mul     t5, s4, t0
        lw      t0, 60(gp)              # LAST_K
        ble     t5, t0, 1f
        mv      t5, t0
1:
        lw      s11, 64(gp)             # last
        li      a6, NOTHING
        li      s7, 0
        lw      t0, 68(gp)              # TILES_K - 1
        bne     s4, t0, 1f
        li      a6, RESULTS
1:      sw      a6, STORE(s8)
        beqz    s3, 2f                  # the PEs have the activations
        lw      s7, 72(gp)              # last_again - last
2:
        lw      t0, 76(gp)              # Y_ROW
        mul     a5, t3, t0
        lw      t0, 80(gp)              # Y_DEPTH
        mul     t0, t4, t0
        add     a5, a5, t0
        sw      a5, PLACE(s8)
        bnez    s4, 6f
        lw      t0, 84(gp)              # start_sums
        lw      t1, 88(gp)              # STARTS * 1
        mul     t1, t1, s3
        add     t0, t0, t1
        lw      a0, START(s8)
        sw      t0, SRC(a0)
        dma.copy zero, a0
6:
        bnez    s3, 9f                  # they stay in the PEs for all n
        lw      t0, 92(gp)              # X_ROW
        mul     a2, t3, t0
        lw      t0, 96(gp)              # X_DEPTH
        mul     t0, t5, t0
        add     a2, a2, t0
        lw      a0, X(s8)
        lw      a1, 100(gp)
7:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, SRC(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 7b
9:
        lw      t0, 36(gp)              # TILES_K
        mul     t0, t0, s3
        add     t0, t0, s4
        lw      t1, 104(gp)
        mul     t0, t0, t1
        lw      a3, 108(gp)             # weight_table
        add     a3, a3, t0
        lw      a0, W(s8)
        lw      a4, HALF(s8)            # the list in the unit of row 0
        add     a4, a4, s11
        li      a5, UNIT
        lw      a1, 112(gp)
        dma.wait s10                    # the packets have come
7:      lw      t0, 0(a3)
        sw      t0, SRC(a0)
        lw      t1, 4(a3)
        sw      t1, BYTES(a0)
        dma.copy zero, a0
        lw      a6, 116(gp)             # rows that these weights are for
8:
        lw      t6, 120(gp)             # last_product0 - last + WEIGHT_BYTES
        add     t6, t6, a4
        sw      t1, 0(t6)
        add     a4, a4, a5
        addi    a6, a6, -1
        bnez    a6, 8b
        addi    a0, a0, NEXT
        addi    a3, a3, 8
        addi    a1, a1, -1
        bnez    a1, 7b
        add     s11, s11, s7
        sw      s11, LIST(s8)
        ret

# Take out what the iteration of frame s8 has left.
store:  lw      t0, STORE(s8)
        lw      a2, PLACE(s8)
        li      t1, RESULTS
        beq     t0, t1, 2f
        ret
2:      lw      a0, Y(s8)
        lw      a1, 124(gp)
3:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, DST(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 3b
        ret
