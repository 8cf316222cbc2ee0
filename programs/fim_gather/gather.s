# Gather and scatter: y[target[n]] += table[source[n]] for 24 pairs, as of the edges of a graph. Bank 0 has
# the table (64 rows of 16 numbers) and gathers into a buffer, bank 2 has y (32 rows) and adds; a row that is
# named twice gets both, in their order.
# Circuits do not compute addresses. The command processor does: it writes row and column of each pair into
# the words of the two blocks before it starts them.
        .device tiny
        .output y, float16, 32, 16

        .set    PAIRS, 24
        .set    BANK, 64 * 1024
        .set    TABLE, 0x40000000
        .set    SUMS, TABLE + 2 * BANK
        .set    BUFFER, TABLE + 3 * BANK
        .set    COLUMN, 17              # the lowest bit of a column in a word fim
        .set    GATHER, 3 * 4           # bytes of the words of a pair, of each block
        .set    SCATTER, 3 * 4

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_table
        copy    load_y
        la      s0, source
        la      s1, target
        la      s2, gathers
        la      s3, scatters
        li      s4, PAIRS
next:   lw      t0, 0(s0)               # a row of the table: of the bank its row / 32, column % 32
        srli    t1, t0, 5
        andi    t2, t0, 31
        slli    t2, t2, COLUMN
        lw      t3, 0(s2)               # act
        or      t3, t3, t1
        sw      t3, 0(s2)
        lw      t3, 4(s2)               # gio <- iosa
        or      t3, t3, t2
        sw      t3, 4(s2)
        lw      t0, 0(s1)               # a row of y is a column of row 0
        slli    t0, t0, COLUMN
        lw      t3, 4(s3)               # rz <- rop + iosa
        or      t3, t3, t0
        sw      t3, 4(s3)
        lw      t3, 8(s3)               # iosa <- rz
        or      t3, t3, t0
        sw      t3, 8(s3)
        addi    s0, s0, 4
        addi    s1, s1, 4
        addi    s2, s2, GATHER
        addi    s3, s3, SCATTER
        addi    s4, s4, -1
        bnez    s4, next
        dma.wait zero
        li      a0, 8                   # island 0
        la      a1, blocks
        core.start a0, a1
        copy    store
        dma.wait zero                   # the copy waits for the end of bank 2's block
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_table: .word   TABLE, table, 2048, 1, 0, 0
load_y:     .word   SUMS, y0, 1024, 1, 0, 0
store:      .word   y, SUMS, 1024, 1, 0, 0
source:     .npy    "source.npy"
target:     .npy    "target.npy"
        .balign 64
table:  .npy    "table.npy"
y0:     .npy    "y0.npy"

        .core   fim, island=0
blocks: .block  banks=0
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 32 * PAIRS
gathers:
        .rept   PAIRS
          act   0
          gio <- iosa[0]
          push  gio
        .endr
        end

        .block  banks=2
          mmr   op, add
          act   0
scatters:
        .rept   PAIRS
          pull  rop
          rz <- rop + iosa[0]
          iosa[0] <- rz
        .endr
        end
