# (A B) C of 16 x 16 matrices: bank 0 computes rows of A B and pushes them, bank 2 pulls each and
# multiplies it by C, while bank 0 is at the next. The rows of A are columns 0 to 15 of row 0 of bank 0,
# the columns of B are columns 16 to 31; those of C are columns 16 to 31 of row 0 of bank 2.
        .device tiny
        .output d, float16, 16, 16

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_a
        copy    load_b
        copy    load_c
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
load_b: .word   BANK + 512, b, 128, 4, 128, 512
load_c: .word   OTHER + 512, c, 128, 4, 128, 512
store:  .word   d, OTHER, 512, 1, 0, 0
        .balign 64
a:      .npy    "a.npy"
b:      .tiles  "b.npy", layout=dot, side=b
c:      .tiles  "c.npy", layout=dot, side=b
        .set    BANK, 0x40000000
        .set    OTHER, BANK + 2 * 64 * 1024
        .set    BUFFER, BANK + 3 * 64 * 1024

        .core   fim, island=0
blocks: .block  banks=0                 # the producer
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 16 * 32
          mmr   op, mul
          mmr   arrange, dot
          lock
          act   0
        .irp    r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
          rop <- iosa[\r]
          rz <- rop * iosa[16:32]
          push  rz
        .endr
          unlock
        end
        .block  banks=2                 # the consumer
          mmr   op, mul
          mmr   arrange, dot
          act   0
          pull  gio
        .irp    r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
          rop <- gio
          pull  gio                     # the next row, on its way while this one is multiplied
          rz <- rop * iosa[16:32]
          iosa[\r] <- rz
        .endr
          rop <- gio
          rz <- rop * iosa[16:32]
          iosa[15] <- rz
        end
