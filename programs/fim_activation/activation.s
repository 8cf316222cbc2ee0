# A layer behind an activation: bank 0 computes tanh of the rows of X (4 x 64) and pushes them,
# bank 2 pulls each and multiplies it by W (64 x 4): Y = tanh(X) W, a column of row 1 of bank 2.
        .device tiny
        .output y, float16, 4, 4

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_x
        copy    load_w
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
load_x: .word   BANK, x, 512, 1, 0, 0
load_w: .word   OTHER, w, 512, 1, 0, 0
store:  .word   y, OTHER + 1024, 32, 1, 0, 0
        .balign 64
x:      .tiles  "x.npy", layout=dot, side=a
w:      .tiles  "w.npy", layout=dot, side=b
        .set    BANK, 0x40000000
        .set    OTHER, BANK + 2 * 64 * 1024
        .set    BUFFER, BANK + 3 * 64 * 1024

        .core   fim, island=0
blocks: .block  banks=0                 # the activation
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 16 * 32
          mmr   op, tanh
          act   0
        .irp    k, 0, 1, 2, 3
        .irp    i, 0, 1, 2, 3
          rz <- tanh(iosa[4 * \i + \k])
          push  rz
        .endr
        .endr
        end
        .block  banks=2                 # the layer
          mmr   op, mul
          mmr   arrange, dot
          act   0
        .irp    k, 0, 1, 2, 3           # slot 4 i + j gets tanh(X[i,k]) . W[k,j]
        .irp    i, 0, 1, 2, 3
          pull  rop
          rz <- rop * iosa[4 * \k : 4 * \k + 4]
        .endr
          mmr   accumulate, 1
        .endr
          act   1
          iosa[0] <- rz
        end
