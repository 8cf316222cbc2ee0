# joined.s - mlp.s, but one transfer brings what six brought; halves.npy has w2.npy in two halves.
# Two layers for eight vectors: y = W2 relu(W1 x + b1) + b2, of 16, 32 and 10 numbers.
# Banks 0 and 1 compute half of the hidden layer each, in lock-step, and push it; bank 2 pulls both halves
# of a vector and computes its outputs, while the others are at the next vector.
        .device tiny
        .output y, float16, 8, 10

        .set    BANK, 64 * 1024
        .set    HIDDEN, 0x40000000      # banks 0 and 1
        .set    OUTPUT, HIDDEN + 2 * BANK
        .set    BUFFER, HIDDEN + 3 * BANK
        # Columns of row 0, banks 0 and 1: 16 rows of W1, then these.
        .set    B1, 16
        .set    X, 17
        # Bank 2: the left halves of the rows of W2, the right halves, then these.
        .set    RIGHT, 10
        .set    B2, 20
        .set    Y, 21

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load
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
load:       .word   HIDDEN, hidden, 800, 3, BANK, 800
store:      .word   y, OUTPUT + 32 * Y, 20, 8, 20, 32
        .balign 64
hidden: .npy    "w1.npy"[0:16]          # of a bank: its rows of W1, of b1, and all of x
        .npy    "b1.npy"[0:16]
        .npy    "x.npy"
        .npy    "w1.npy"[16:32]
        .npy    "b1.npy"[16:32]
        .npy    "x.npy"
output: .npy    "halves.npy"
        .npy    "b2.npy"
        .space  800 - 660

        .core   fim, island=0
        .macro  dots columns, add=0     # Rz from slot 0 on: the products of Rop and columns
        mmr     rz_slot, 0
        mmr     op, mul
        mmr     arrange, dot
        mmr     accumulate, \add
        rz <- rop * iosa[\columns]
        mmr     accumulate, 0
        mmr     rz_slot, 0
        mmr     arrange, elementwise
        .endm
        .macro  bias column             # Rz <- Rz + a column
        rop <- rz
        mmr     op, add
        rz <- rop + iosa[\column]
        .endm

blocks: .block  banks=0-1               # the hidden layer
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 8 * 2 * 32
          act   0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
          rop <- iosa[X + \n]
          dots  0:16
          bias  B1
          rop <- rz
          mmr   op, relu
          rz <- relu(rop)
          push  rz                      # the left half from bank 0, the right one from bank 1
        .endr
        end

        .block  banks=2                 # the output layer
          act   0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
          pull  rop
          dots  0:RIGHT
          pull  rop
          dots  RIGHT:B2, add=1
          bias  B2
          iosa[Y + \n] <- rz
        .endr
        end
