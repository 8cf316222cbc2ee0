# Products element by element, and their sums with A: A and B (4 x 64) fill row 0 of bank 0.
        .device tiny
        .output c, float16, 4, 64
        .output d, float16, 4, 64

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
        copy    store_d
        dma.wait zero                   # the copies wait for the ends of the blocks
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_a:  .word   BANK, a, 512, 1, 0, 0
load_b:  .word   BANK + 512, b, 512, 1, 0, 0
store:   .word   c, BANK + 1024, 512, 1, 0, 0
store_d: .word   d, BANK + 1536, 512, 1, 0, 0
        .balign 64
a:      .tiles  "a.npy", layout=elementwise, side=a
b:      .tiles  "b.npy", layout=elementwise, side=b
        .set    BANK, 0x40000000

        .core   fim, island=0
blocks: .block  banks=0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
          act   0
          mmr   op, mul
          rop <- iosa[\n]
          rz <- rop * iosa[16 + \n]
          gio <- rz
          act   1
          iosa[\n] <- gio
          mmr   op, add
          rz <- rop + gio
          iosa[16 + \n] <- rz
        .endr
        end
