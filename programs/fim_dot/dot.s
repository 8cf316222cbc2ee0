# A product by dots: A (4 x 64) and B (64 x 4) fill row 0 of bank 0, C (4 x 4) is a column of row 1.
        .device tiny
        .output c, float16, 4, 4

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
store:  .word   c, BANK + 1024, 32, 1, 0, 0
        .balign 64
a:      .tiles  "a.npy", layout=dot, side=a
b:      .tiles  "b.npy", layout=dot, side=b
        .set    BANK, 0x40000000

        .core   fim, island=0
blocks: .block  banks=0
          mmr   op, mul
          mmr   arrange, dot
          act   0
        .irp    k, 0, 1, 2, 3           # tiles along the sum: slot 4 i + j gets A[i,k] . B[k,j]
        .irp    i, 0, 1, 2, 3
          rop <- iosa[4 * \i + \k]
          rz <- rop * iosa[16 + 4 * \k : 20 + 4 * \k]
        .endr
          mmr   accumulate, 1
        .endr
          act   1
          iosa[0] <- rz
        end
