# conv2d.s - convolution 3 × 3, stride 1 × 1, padding 1 × 1, of 10 × 10 × 4 to 8 channels;
# 122 weights that are not zero. Written by macaw lower.

# input stationary, split b: 1,956 cycles and 2,510 bytes of external memory predicted; iterations
# wait for the rows' work.
# weight stationary, split b, would take 1,952 cycles; input stationary is preferred
# (lower.preferred.conv2d) where it costs at most 2% more.
# output stationary, split b: 1,952 cycles (1.00 times), 2,382 bytes; waits for the rows' work.

# Rows of the array divide M, clusters N. What each gets:
# row 0, cluster 0: rows 0:5 and channels 0:4 of the outputs
# row 0, cluster 1: rows 0:5 and channels 4:8 of the outputs
# row 1, cluster 0: rows 5:10 and channels 0:4 of the outputs
# row 1, cluster 1: rows 5:10 and channels 4:8 of the outputs
        .device tiny
        .input  x, int8, 10, 10, 4
        .output y, int8, 10, 10, 8

# ---------------- external memory
w:      .sparse "conv2d.w.npy", clusters=2, pes=4       # a round a tile, in the order of loading
start_sums:
        .npy    "conv2d.bias.npy"                       # what sums begin with, by (n tile, row)
        .bss
        .balign 32
zeros:  .space  48                                      # a line of zeros for paddings
        .balign 32

# ---------------- the array: every row runs this part
        .core   pe, row=0
x_tile: .array  int8, 1, 7, 12, 4       # (cluster, row, column, channel)
w_tile: .array  uint8, 382              # index + value
start:  .array  int32, 1, 8             # what the sums of all output positions begin with: (1, PE)
result: .array  int8, 50, 8             # (output position, PE)

        .seq    hold                    # the slab stays in the PEs
          ld    activations
        .endseq

        .seq    product0, state=rq, pipeline=4  # an output position an iteration
        .loop   inner=10, outer=5
        .step   mac.base, inner=4, outer=8
        .step   spu.dst, inner=1
        .then   ib=3
          ld    weights
          ld    psums, base=15
          mac   base=0, acc=0
          spu   nonsf, src=0, dst=0
        .endseq

        .seq    final, activation=relu, shift=5         # all output positions at once
          spu   activation, src=0, dst=0
          spu   requantise, src=0, dst=0
          st    base=0
        .endseq

        .list   setup                   # once
        config  ib=0, hold
        config  ib=4, product0
        config  ib=3, final
        .endlist

        .list   last                    # the last k
        exe     ib=0, data=(x_tile)     # not if the PEs have it
last_again:
last_product0:
        exe     ib=4, data=(weights w_tile sliced, psums start[0] sliced), last, out=(result[0], stride=1, step=8, count=50)
        .endlist

# ---------------- the command processor
        .core   cp
        .equ    ROWS, 2
        .equ    ALL_ROWS, 0x3           # units and rows, a bit each
        .equ    ALL_CORES, 0x3 << 16    # rows are cores 16 and on
        .equ    EVERY_UNIT, 0x1000000   # added to a destination: to all units
        .equ    STEPS, 1                # iterations
        .equ    TILES_M, 1              # tiles of rows of activations in a cluster's part
        .equ    TILE_M, 5               # rows of activations of a tile
        .equ    LAST_M, 0               # where the last tile begins in its part
        .equ    TILES_N, 1              # tiles of outputs in a cluster's part
        .equ    TILE_N, 4               # outputs of a tile
        .equ    LAST_N, 0               # where the last tile begins in its part
        .equ    TILES_K, 1              # tiles of inputs in a cluster's part
        .equ    TILE_K, 4               # inputs of a tile
        .equ    LAST_K, 0               # where the last tile begins in its part
        .equ    COLUMNS, 1
        .equ    IMAGE_TILES, 1
        .equ    TILE_X, 10
        .equ    LAST_X, 0
        .equ    BIAS, 32
        .equ    X_SIZE, 1               # bytes of an activation
        .equ    Y_SIZE, 1               # bytes of a result
        .equ    X_ROW, 40 * X_SIZE
        .equ    X_COLUMN, 4 * X_SIZE
        .equ    X_DEPTH, 1 * X_SIZE
        .equ    Y_ROW, 80 * Y_SIZE
        .equ    Y_COLUMN, 8 * Y_SIZE
        .equ    Y_DEPTH, 1 * Y_SIZE
        .equ    X_IMAGE, 400 * X_SIZE
        .equ    Y_IMAGE, 800 * Y_SIZE
        .equ    SUMS, 1600              # bytes of a row's raw sums of an iteration
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
        li      s6, 0                   # a tile has all columns
        li      t4, 0                   # there is one tile in N
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
        li      a2, BIAS
        mul     a2, a2, s3
        lw      a0, START(s8)
        li      a1, 1
7:      lw      t0, BASE(a0)
        add     t0, t0, a2
        sw      t0, SRC(a0)
        dma.copy zero, a0
        addi    a0, a0, NEXT
        addi    a1, a1, -1
        bnez    a1, 7b
6:
        bnez    s3, loaded              # activations stay in the PEs for all n
        .equ    LINES, 12
        .equ    SLAB, 28
        .equ    ROW, 32
        li      t0, 1                   # rows of the image from a row of outputs to the next
        mul     a2, t3, t0
        li      t0, 1
        mul     a3, s6, t0
        li      t0, 1
        sub     a3, a3, t0              # the first column of the slab in the image
        li      t0, X_DEPTH
        mul     a6, t5, t0
        lw      a0, X(s8)
        li      t0, -1                  # the least first row
        add     t0, t0, a2
        bltz    t0, 1f
        li      t1, -1
        bgt     a2, t1, 1f
        bltz    a3, 1f
        li      t1, -2
        ble     a3, t1, 2f
1:      dma.copy zero, a0               # some are outside: zeros
2:
        li      a5, 0
        bgez    a3, 1f
        neg     a5, a3                  # columns of the slab before the image
1:      add     a3, a3, a5
        li      t0, 12
        sub     a4, t0, a5
        li      t0, 10
        sub     t0, t0, a3
        ble     a4, t0, 1f
        mv      a4, t0                  # columns inside
1:      blez    a4, 8f
        li      t0, 4                   # bytes of a pixel
        mul     a3, a3, t0
        add     a3, a3, a6
        li      t0, 4
        mul     a5, a5, t0
        li      a1, 2
7:      addi    a0, a0, 36
        lw      t0, ROW(a0)
        add     t0, t0, a2
        li      t1, 0
        bgez    t0, 1f
        neg     t1, t0                  # rows of the slab before the image
1:      add     t0, t0, t1
        li      t2, 7
        sub     t2, t2, t1
        li      t6, 10
        sub     t6, t6, t0
        ble     t2, t6, 1f
        mv      t2, t6                  # rows inside
1:      blez    t2, 6f
        li      t6, 40
        mul     t0, t0, t6
        add     t0, t0, a3
        lw      t6, BASE(a0)
        add     t0, t0, t6
        li      t6, 48
        mul     t1, t1, t6
        add     t1, t1, a5
        lw      t6, SLAB(a0)
        add     t1, t1, t6
        sw      t2, LINES(a0)
        li      t6, 4
        mul     t6, t6, a4
        sw      t6, BYTES(a0)
        sw      t0, SRC(a0)
        sw      t1, DST(a0)
        dma.copy zero, a0
6:      addi    a1, a1, -1
        bnez    a1, 7b
8:
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
\h\()_x: .word   x_tile + EVERY_UNIT + \here, zeros, 48, 7, 48, 0, 0, 0, 0  # zeros, then a slab each
        .word   0, 0, 4, 0, 48, 40, x + 0, x_tile + 0x0 + \here, -1  # row 0: channel 0 on, from this row of the image
        .word   0, 0, 4, 0, 48, 40, x + 0, x_tile + 0x100000 + \here, 4  # row 1: channel 0 on, from this row of the image
\h\()_w: .word   w_tile + EVERY_UNIT + \here, w, 0, 1, 0, 0, w  # all rows: of W[0:4, 0:4], W[0:4, 4:8]
\h\()_p: .word   start + 0x1000000 + \here, start_sums + 0, 32, 1, 32, 0, start_sums + 0  # all rows: what sums begin with
\h\()_y: .word   y + 0, result + 0x0 + \here, 4, 50, 8, 8, y + 0  # row 0, cluster 0: of O[0:5, :, 0:4]
        .word   y + 4, result + 0x4 + \here, 4, 50, 8, 8, y + 4  # row 0, cluster 1: of O[0:5, :, 4:8]
        .word   y + 400, result + 0x100000 + \here, 4, 50, 8, 8, y + 400  # row 1, cluster 0: of O[5:10, :, 0:4]
        .word   y + 404, result + 0x100004 + \here, 4, 50, 8, 8, y + 404  # row 1, cluster 1: of O[5:10, :, 4:8]
# Words LIST to FACTORS of the frame.
\h:     .word   0, NOTHING, 0, \here, \h\()_x, \h\()_w, \h\()_p, 0, \h\()_y, 0, 0, 0
        .endm
        half    ping, 0, PONG
        half    pong, PONG, 0

# Where the weights of each tile lie and their bytes, by (n, k).
        .set    tile, 0
weight_table:
        .rept   1
        .word   w[tile], sizeof(w[tile])
        .set    tile, tile + 1
        .endr
