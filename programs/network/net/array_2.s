# array_2.s - cp's code of some layers. Written by macaw compile.
        .global array_2
        .core   cp
        .include "frame_1.inc"
# gp points to the record of the layer: words with the numbers after #.

array_2:

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
        call    load
        dma.wait zero
        mem.swap s0
        lw      a1, 20(gp)              # setup
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

# The next tile: weight stationary, loops n, k, m (seed 000 Fig. 7).
step:   addi    s2, s2, 1
        lw      t0, 24(gp)              # TILES_M
        blt     s2, t0, 1f
        li      s2, 0
        addi    s4, s4, 1
        lw      t0, 28(gp)              # TILES_K
        blt     s4, t0, 1f
        li      s4, 0
        addi    s3, s3, 1
1:      ret

# Bring the data of iteration (m, n, k) to the half of frame s8.
# s11: its list; s7: how much of the list's beginning is left out.
load:
        lw      t0, 32(gp)              # TILE_M
        mul     t3, s2, t0
        lw      t0, 36(gp)              # LAST_M
        ble     t3, t0, 1f
        mv      t3, t0
1:
        li      s6, 0                   # a tile has all columns
        lw      t0, 40(gp)              # TILE_N
        mul     t4, s3, t0
        lw      t0, 44(gp)              # LAST_N
        ble     t4, t0, 1f
        mv      t4, t0
1:
        lw      t0, 48(gp)              # TILE_K
        mul     t5, s4, t0
        lw      t0, 52(gp)              # LAST_K
        ble     t5, t0, 1f
        mv      t5, t0
1:
        lw      s11, 56(gp)             # last
        li      a6, NOTHING
        li      s7, 0
        lw      t0, 60(gp)              # TILES_K - 1
        bne     s4, t0, 1f
        li      a6, RESULTS
1:      sw      a6, STORE(s8)
        lw      t0, 64(gp)              # Y_ROW
        mul     a5, t3, t0
        lw      t0, 68(gp)              # Y_DEPTH
        mul     t0, t4, t0
        add     a5, a5, t0
        sw      a5, PLACE(s8)
        bnez    s4, 6f
        lw      a2, 72(gp)              # BIAS
        mul     a2, a2, s3
        lw      a0, START(s8)
        lw      a1, 76(gp)
7:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, SRC(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 7b
6:
        .equ    LINES, 12
        .equ    SLAB, 28
        .equ    ROW, 32
        lw      t0, 80(gp)              # rows of the image from a row of outputs to the next
        mul     a2, t3, t0
        lw      t0, 84(gp)
        mul     a3, s6, t0
        lw      t0, 88(gp)
        sub     a3, a3, t0              # the first column of the slab in the image
        lw      t0, 92(gp)              # X_DEPTH
        mul     a6, t4, t0
        lw      a0, X(s8)
        lw      t0, 96(gp)              # the least first row
        add     t0, t0, a2
        bltz    t0, 1f
        li      t1, 0
        bgt     a2, t1, 1f
        bltz    a3, 1f
        lw      t1, 96(gp)
        ble     a3, t1, 2f
1:      dma.copy zero, a0               # some are outside: zeros
2:
        li      a5, 0
        bgez    a3, 1f
        neg     a5, a3                  # columns of the slab before the image
1:      add     a3, a3, a5
        lw      t0, 100(gp)
        sub     a4, t0, a5
        lw      t0, 104(gp)
        sub     t0, t0, a3
        ble     a4, t0, 1f
        mv      a4, t0                  # columns inside
1:      blez    a4, 8f
        lw      t0, 108(gp)             # bytes of a pixel
        mul     a3, a3, t0
        add     a3, a3, a6
        lw      t0, 112(gp)
        mul     a5, a5, t0
        lw      a1, 116(gp)
7:      addi    a0, a0, 36
        lw      t0, ROW(a0)
        add     t0, t0, a2
        li      t1, 0
        bgez    t0, 1f
        neg     t1, t0                  # rows of the slab before the image
1:      add     t0, t0, t1
        lw      t2, 120(gp)
        sub     t2, t2, t1
        lw      t6, 124(gp)
        sub     t6, t6, t0
        ble     t2, t6, 1f
        mv      t2, t6                  # rows inside
1:      blez    t2, 6f
        lw      t6, 128(gp)
        mul     t0, t0, t6
        add     t0, t0, a3
        lw      t6, BASE(a0)
        add     t0, t0, t6
        lw      t6, 132(gp)
        mul     t1, t1, t6
        add     t1, t1, a5
        lw      t6, SLAB(a0)
        add     t1, t1, t6
        sw      t2, LINES(a0)
        lw      t6, 136(gp)
        mul     t6, t6, a4
        sw      t6, BYTES(a0)
        sw      t0, SRC(a0)
        sw      t1, DST(a0)
        dma.copy zero, a0
6:      addi    a1, a1, -1
        bnez    a1, 7b
8:
        lw      t0, 28(gp)              # TILES_K
        mul     t0, t0, s3
        add     t0, t0, s4
        lw      t1, 140(gp)
        mul     t0, t0, t1
        lw      a3, 144(gp)             # weight_table
        add     a3, a3, t0
        lw      a0, W(s8)
        lw      a4, HALF(s8)            # the list in the unit of row 0
        add     a4, a4, s11
        li      a5, UNIT
        lw      a1, 148(gp)
        dma.wait s10                    # the packets have come
7:      lw      t0, 0(a3)
        sw      t0, SRC(a0)
        lw      t1, 4(a3)
        sw      t1, BYTES(a0)
        dma.copy zero, a0
        lw      a6, 152(gp)             # rows that these weights are for
8:
        lw      t6, 156(gp)             # last_product0 - last + WEIGHT_BYTES
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
        lw      a1, 160(gp)
3:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, DST(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 3b
        ret
