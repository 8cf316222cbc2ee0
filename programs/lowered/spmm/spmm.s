# spmm.s - 16 rows of 48 inputs through 24 outputs;
# 579 weights that are not zero. Written by macaw lower.

# input stationary, split b, rows in a loop: 1,518 cycles and 3,513 bytes of external memory
# predicted; iterations wait for the rows' work.
# weight stationary, split b, would take 1,517 cycles; input stationary is preferred
# (lower.preferred.spmm) where it costs at most 2% more.
# output stationary, split b: 2,174 cycles (1.43 times), 7,674 bytes; waits for the dma.

# Rows of the array divide M, clusters N. What each gets:
# row 0, cluster 0: I[0:8, 0:48]  W[0:48, 0:12]  O[0:8, 0:12]
# row 0, cluster 1: I[0:8, 0:48]  W[0:48, 12:24]  O[0:8, 12:24]
# row 1, cluster 0: I[8:16, 0:48]  W[0:48, 0:12]  O[8:16, 0:12]
# row 1, cluster 1: I[8:16, 0:48]  W[0:48, 12:24]  O[8:16, 12:24]
        .device tiny
        .input  x, int8, 16, 48
        .output y, int8, 16, 24

# ---------------- external memory
w:      .sparse "spmm.w.npy", clusters=2, pes=4         # a round a tile, in the order of loading
start_sums:
        .npy    "spmm.bias.npy"                         # what sums begin with, by (n tile, row)

# ---------------- the array: every row runs this part
        .core   pe, row=0
x_tile: .array  int8, 1, 8, 48          # (cluster, row, input)
w_tile: .array  uint8, 616              # index + value, as many bytes as a tile has at most
start:  .array  int32, 1, 8, 1          # what sums begin with: (group, PE, accumulator)
result: .array  int8, 8, 8              # (row, PE)

        .seq    hold                    # all rows of activations
          ld    activations
        .endseq

        .seq    product0, state=rq, pipeline=4  # a row of activations an iteration; the weights stay, and all rows have come
        .loop   inner=8
        .step   mac.base, inner=48
        .step   spu.dst, inner=1
        .then   ib=3
          ld    weights
          ld    psums, base=15
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
        .endseq

        .seq    final, activation=relu, shift=4         # the sums of all 8 rows of activations at once
          spu   activation, src=0, dst=0
          spu   requantise, src=0, dst=0
          st    base=0
        .endseq

        .list   setup                   # once
        config  ib=0, hold
        config  ib=4, product0
        config  ib=3, final
        .endlist

        .list   last                    # an iteration
        exe     ib=0, data=(x_tile)     # not if the PEs have them
last_again:
last_product0:
        exe     ib=4, data=(weights w_tile sliced, psums start[0] sliced), last, out=(result[0], stride=1, step=8, count=8)
        .endlist

# ---------------- the command processor
        .core   cp
        .equ    ROWS, 2
        .equ    ALL_ROWS, 0x3           # units and rows, a bit each
        .equ    ALL_CORES, 0x3 << 16    # rows are cores 16 and on
        .equ    EVERY_UNIT, 0x1000000   # added to a destination: to all units
        .equ    STEPS, 3                # iterations
        .equ    TILES_M, 1              # tiles of rows of activations in a cluster's part
        .equ    TILE_M, 8               # rows of activations of a tile
        .equ    LAST_M, 0               # where the last tile begins in its part
        .equ    TILES_N, 3              # tiles of outputs in a cluster's part
        .equ    TILE_N, 4               # outputs of a tile
        .equ    LAST_N, 8               # where the last tile begins in its part
        .equ    TILES_K, 1              # tiles of inputs in a cluster's part
        .equ    TILE_K, 48              # inputs of a tile
        .equ    LAST_K, 0               # where the last tile begins in its part
        .equ    X_SIZE, 1               # bytes of an activation
        .equ    Y_SIZE, 1               # bytes of a result
        .equ    X_ROW, 48 * X_SIZE
        .equ    X_DEPTH, 1 * X_SIZE
        .equ    Y_ROW, 24 * Y_SIZE
        .equ    Y_DEPTH, 1 * Y_SIZE
        .equ    SUMS, 256               # bytes of a row's raw sums of an iteration
        .equ    STARTS, 32              # bytes of what a row's sums begin with
        .equ    WEIGHT_BYTES, 16        # in a product's packet: how many bytes of weights
        .equ    UNIT, 0x100000          # from a unit to the next
        .equ    PONG, 0x80000           # from a unit's half 0 to its half 1
# Words of a frame; words of a transfer.
        .equ    LIST, 0
        .equ    STORE, 4
        .equ    PLACE, 8
        .equ    HALF, 12
        .equ    X, 16
        .equ    W, 20
        .equ    START, 24
        .equ    SUMS_AWAY, 28
        .equ    Y, 32
        .equ    CARRY, 36
        .equ    GATHER, 40
        .equ    FACTORS, 44
        .equ    DST, 0
        .equ    SRC, 4
        .equ    BYTES, 8
        .equ    BASE, 24
        .equ    NEXT, 28
# What an iteration still has to store (word STORE).
        .equ    NOTHING, 0
        .equ    PARTIAL, 1
        .equ    RESULTS, 2

_start: la      a0, fill_ping           # packets and sequences to both halves of all units
        dma.copy s10, a0                # the ticket; load writes into ping's packets
        la      a0, fill_pong
        dma.copy zero, a0
        li      s0, ALL_ROWS
        li      s1, ALL_CORES
        li      s2, 0                   # m, n and k of the iteration that is loaded
        li      s3, 0
        li      s4, 0
        li      s5, STEPS               # iterations that are left to dispatch
        la      s8, ping                # the frame of the half that loads
        la      s9, pong                # the frame of the half that feeds
        call    load
        dma.wait zero
        mem.swap s0
        la      a1, setup
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
        li      a0, 0
        li      a7, 93
        ecall

# The next tile: input stationary, loops m, k, n (seed 000 Fig. 7).
step:   addi    s3, s3, 1
        li      t0, TILES_N
        blt     s3, t0, 1f
        li      s3, 0
        addi    s4, s4, 1
        li      t0, TILES_K
        blt     s4, t0, 1f
        li      s4, 0
        addi    s2, s2, 1
1:      ret

# Bring the data of iteration (m, n, k) to the half of frame s8.
# s11: its list; s7: how much of the list's beginning is left out.
load:
        li      t3, 0                   # there is one tile in M
        li      t0, TILE_N
        mul     t4, s3, t0
        li      t0, LAST_N              # the last tile begins earlier rather than being shorter
        ble     t4, t0, 1f
        mv      t4, t0
1:
        li      t5, 0                   # there is one tile in K
        la      s11, last
        li      a6, NOTHING
        li      s7, 0
        li      t0, TILES_K - 1
        bne     s4, t0, 1f
        li      a6, RESULTS
1:      sw      a6, STORE(s8)
        beqz    s3, 2f                  # the PEs have the activations
        li      s7, last_again - last
2:
        li      t0, Y_ROW
        mul     a5, t3, t0
        li      t0, Y_DEPTH
        mul     t0, t4, t0
        add     a5, a5, t0
        sw      a5, PLACE(s8)
        bnez    s4, 6f
        la      t0, start_sums
        li      t1, STARTS * 1
        mul     t1, t1, s3
        add     t0, t0, t1
        lw      a0, START(s8)
        sw      t0, SRC(a0)
        dma.copy zero, a0
6:
        bnez    s3, loaded              # activations stay in the PEs for all n
        li      t0, X_ROW
        mul     a2, t3, t0
        li      t0, X_DEPTH
        mul     t0, t5, t0
        add     a2, a2, t0
        lw      a0, X(s8)
        li      a1, 2
7:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, SRC(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 7b
loaded:
        li      t0, TILES_K             # the tile's place in the table of weights
        mul     t0, t0, s3
        add     t0, t0, s4
        li      t1, 8
        mul     t0, t0, t1
        la      a3, weight_table
        add     a3, a3, t0
        lw      a0, W(s8)
        lw      a4, HALF(s8)            # the list in the unit of row 0
        add     a4, a4, s11
        li      a5, UNIT
        li      a1, 1
        dma.wait s10                    # the packets have come
7:      lw      t0, 0(a3)
        sw      t0, SRC(a0)
        lw      t1, 4(a3)
        sw      t1, BYTES(a0)
        dma.copy zero, a0
        li      a6, 2                   # rows that these weights are for
8:
        li      t6, last_product0 - last + WEIGHT_BYTES
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
        li      a1, 4
3:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, DST(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 3b
        ret

# ---------------- cp's data
        .section .data.cp
        .balign 4
# Transfers: dst, src, row bytes, rows, dst stride, src stride; for index 0 of all
# loops, and behind it where a tile's place is counted from.
        .macro  half h, here, other     # the transfers of a half, and what cp knows of it
fill_\h: .word   setup + EVERY_UNIT + \here, load_address(setup), x_tile - setup, 1, 0, 0
\h\()_x: .word   x_tile + 0x0 + \here, x + 0, 48, 8, 48, 48, x + 0  # row 0: of I[0:8, 0:48]
        .word   x_tile + 0x100000 + \here, x + 384, 48, 8, 48, 48, x + 384  # row 1: of I[8:16, 0:48]
\h\()_w: .word   w_tile + EVERY_UNIT + \here, w, 0, 1, 0, 0, w  # all rows: of W[0:48, 0:12], W[0:48, 12:24]
\h\()_p: .word   start + EVERY_UNIT + \here, start_sums, STARTS, 1, 0, 0, start_sums  # what sums begin with
\h\()_y: .word   y + 0, result + 0x0 + \here, 4, 8, 24, 8, y + 0  # row 0, cluster 0: of O[0:8, 0:12]
        .word   y + 12, result + 0x4 + \here, 4, 8, 24, 8, y + 12  # row 0, cluster 1: of O[0:8, 12:24]
        .word   y + 192, result + 0x100000 + \here, 4, 8, 24, 8, y + 192  # row 1, cluster 0: of O[8:16, 0:12]
        .word   y + 204, result + 0x100004 + \here, 4, 8, 24, 8, y + 204  # row 1, cluster 1: of O[8:16, 12:24]
# Words LIST to FACTORS of the frame.
\h:     .word   0, NOTHING, 0, \here, \h\()_x, \h\()_w, \h\()_p, 0, \h\()_y, 0, 0, 0
        .endm
        half    ping, 0, PONG
        half    pong, PONG, 0

# Where the weights of each tile lie and their bytes, by (n, k).
        .set    tile, 0
weight_table:
        .rept   3
        .word   w[tile], sizeof(w[tile])
        .set    tile, tile + 1
        .endr
