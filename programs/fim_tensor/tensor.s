# AB, A'B and AB' (16 x 16) of the same stored tiles: A and B fill row 0 of bank 0 once, products
# are 16 tiles of 4 x 4 each, in rows 1 and 2.
        .device tiny
        .output ab, float16, 4, 4, 4, 4
        .output atb, float16, 4, 4, 4, 4
        .output abt, float16, 4, 4, 4, 4

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_a
        copy    load_b
        dma.wait zero
        li      a0, 8                   # island 0
        la      a1, blocks
        core.start a0, a1
        copy    st_ab
        copy    st_atb
        copy    st_abt
        dma.wait zero                   # the copies wait for the ends of the blocks
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_a: .word   BANK, a, 512, 1, 0, 0
load_b: .word   BANK + 512, b, 512, 1, 0, 0
st_ab:  .word   ab, BANK + 1024, 512, 1, 0, 0
st_atb: .word   atb, BANK + 1536, 512, 1, 0, 0
st_abt: .word   abt, BANK + 2048, 512, 1, 0, 0
        .balign 64
a:      .tiles  "a.npy", layout=tensor, side=a
b:      .tiles  "b.npy", layout=tensor, side=b
        .set    BANK, 0x40000000

        .core   fim, island=0
        # Tile (i, j) of a product: the sum over k of a tile of A and one of B, into a row from a column on.
        # In \left and \right stand the columns of these tiles, by \i, \j and \k of the loops.
        .macro  product transposed, left, right, row, column
        mmr     transpose, \transposed
        .irp    i, 0, 1, 2, 3
        .irp    j, 0, 1, 2, 3
        act     0
        mmr     accumulate, 0
        .irp    k, 0, 1, 2, 3
        rop <- iosa[\left]
        rz <- rop * iosa[16 + \right]
        mmr     accumulate, 1
        .endr
        act     \row
        iosa[\column + 4 * \i + \j] <- rz
        .endr
        .endr
        .endm

blocks: .block  banks=0
          mmr   op, mul
          mmr   arrange, tensor
          product none, "4 * \i + \k", "4 * \k + \j", row=1, column=0
          product a, "4 * \k + \i", "4 * \k + \j", row=1, column=16
          product b, "4 * \i + \k", "4 * \j + \k", row=2, column=0
        end
