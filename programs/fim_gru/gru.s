# A GRU cell over four steps, on the island made for it (sigmoid and tanh, no other activation):
#     r = sigmoid(Wr x + Ur h + br)      z = sigmoid(Wz x + Uz h + bz)
#     n = tanh(Wn x + Un (r h) + bn)     h' = n + z (h - n)
# Banks 0 and 1 compute r and z in lock-step and push both; bank 2 computes n and h' and pushes h' for the
# gates of the next step. The products with x need no h: bank 2 does its own while the gates work.
        .device tiny
        .output h, float16, 4, 16       # the state behind each step

        .set    STEPS, 4
        .set    ROW, 1024               # bytes
        .set    BANK, 64 * ROW
        .set    ISLAND, 0x44000000
        # Of each bank row 0 has W in columns 0 to 15 and U in 16 to 31, a row of the matrix a column;
        # row 1 has these:
        .set    BIAS, 0
        .set    X, 1                    # of the first step
        .set    NEW, 15                 # bank 2: n
        .set    H, 16                   # bank 2: the state, before the first step and behind each
        # Buffers: what the gates push, r before z, and the states.
        .set    GATES, ISLAND + 3 * BANK
        .set    STATES, GATES + 32 * 2 * STEPS
        .set    STATES_END, STATES + 32 * STEPS

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_w
        copy    load_u
        copy    load_b
        copy    load_x
        copy    load_h
        dma.wait zero
        li      a0, 9                   # island 1
        la      a1, blocks
        core.start a0, a1
        copy    store
        dma.wait zero                   # the copy waits for the end of bank 2's block
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides: a row is what a bank gets
load_w: .word   ISLAND, w, 512, 3, BANK, 512
load_u: .word   ISLAND + 512, u, 512, 3, BANK, 512
load_b: .word   ISLAND + ROW + 32 * BIAS, b, 32, 3, BANK, 32
load_x: .word   ISLAND + ROW + 32 * X, x, 32 * STEPS, 3, BANK, 0
load_h: .word   ISLAND + 2 * BANK + ROW + 32 * H, h0, 32, 1, 0, 0
store:  .word   h, ISLAND + 2 * BANK + ROW + 32 * (H + 1), 32 * STEPS, 1, 0, 0
        .balign 64
w:      .npy    "w.npy"
u:      .npy    "u.npy"
b:      .npy    "b.npy"
x:      .npy    "x.npy"
h0:     .npy    "h0.npy"

        .core   fim, island=1
        .macro  dots first, add         # Rz <- 16 products of a row of the matrix and Rop (add: + Rz)
        mmr     op, mul
        mmr     arrange, dot
        mmr     accumulate, \add
        rz <- rop * iosa[\first : \first + 16]
        mmr     accumulate, 0
        mmr     arrange, elementwise
        .endm
        .macro  input step              # Rz <- W x; row 0 is open then
        act     1
        rop <- iosa[X + \step]
        act     0
        dots    0, add=0
        .endm
        .macro  bias                    # Rop <- Rz + b; row 1 is open then
        rop <- rz
        act     1
        mmr     op, add
        rz <- rop + iosa[BIAS]
        rop <- rz
        .endm

blocks: .block  banks=0-1               # r and z
          mmr   b0_low, GATES
          mmr   b0_high, STATES
        .irp    step, 0, 1, 2, 3
          input \step
          pull  rop, 1, all             # h
          dots  16, add=1
          bias
          mmr   op, sigmoid
          rz <- sigmoid(rop)
          push  rz, 0
        .endr
        end

        .block  banks=2                 # n and h'
          mmr   b1_low, STATES
          mmr   b1_high, STATES_END
          act   1
          gio <- iosa[H]
          push  gio, 1
        .irp    step, 0, 1, 2, 3
          input \step
          act   1
          mmr   op, mul
          mmr   rz_slot, 1              # slice 0 keeps W x
          pull  rop, 0                  # r
          rz <- rop * iosa[H + \step]
          rop <- rz
          mmr   rz_slot, 0
          act   0
          dots  16, add=1
          bias
          mmr   op, tanh
          rz <- tanh(rop)
          gio <- rz
          iosa[NEW] <- rz
          rop <- iosa[H + \step]
          mmr   op, sub
          rz <- rop - gio
          rop <- rz
          pull  gio, 0                  # z
          mmr   op, mul
          rz <- rop * gio
          rop <- rz
          mmr   op, add
          rz <- rop + iosa[NEW]
          iosa[H + \step + 1] <- rz
        .if     \step < STEPS - 1
          push  rz, 1
        .endif
        .endr
        end
