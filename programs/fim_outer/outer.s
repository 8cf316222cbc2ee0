# A product by outer products: A (64 x 4) and B (4 x 64) fill row 0 of bank 0; each of the 16 tiles of C
# (16 x 16 numbers) is half of a row of rows 1 to 8.
        .device tiny
        .output c, float16, 4, 4, 16, 16

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
        copy    store
        dma.wait zero                   # the copies wait for the ends of the blocks
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_a: .word   BANK, a, 512, 1, 0, 0
load_b: .word   BANK + 512, b, 512, 1, 0, 0
store:  .word   c, BANK + 1024, 1024, 8, 1024, 1024
        .balign 64
a:      .tiles  "a.npy", layout=outer, side=a
b:      .tiles  "b.npy", layout=outer, side=b
        .set    BANK, 0x40000000

        .core   fim, island=0
blocks: .block  banks=0
          mmr   op, mul
          mmr   arrange, outer
          mmr   rz_step, 1              # the slices of a tile go to columns one after the other
        .irp    i, 0, 1, 2, 3
        .irp    j, 0, 1, 2, 3
          act   0
          mmr   accumulate, 0
        .irp    k, 0, 1, 2, 3
          rop <- iosa[4 * \i + \k]
          rz <- rop * iosa[16 + 4 * \k + \j]
          mmr   accumulate, 1
        .endr
          act   1 + (4 * \i + \j) / 2
          iosa[16 * (\j & 1) : 16 * (\j & 1) + 16] <- rz
        .endr
        .endr
        end
