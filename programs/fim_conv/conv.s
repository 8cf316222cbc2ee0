# A convolution by the elementwise layout: 3 kernels of 3 x 3 over a plane of 10 x 18, which give 3 planes
# of 8 x 16; bank c computes plane c, all in lock-step. A row of a plane is a column of the memory, 16 lanes:
#     y[c][r] = sum over i, j of k[c][i][j] (in all lanes) * x[i + r][j : j + 16]
# The lanes of a circuit do not move, so the host puts the plane three times, shifted by 0, 1 and 2 lanes.
        .device tiny
        .output y, float16, 3, 8, 16

        .set    ROWS, 10                # of the plane
        .set    OUT, 8                  # rows of a result
        .set    WIDTH, 18
        .set    ROW, 1024               # bytes of a row of a bank
        .set    BANK, 64 * ROW
        .set    ISLAND, 0x40000000
        .set    BUFFER, ISLAND + 3 * BANK
        # Row 0 of a bank: the plane shifted by j from column ROWS * j on. Row 1:
        .set    KERNEL, 0               # nine numbers
        .set    ONES, 1
        .set    Y, 2

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_k
        copy    load_ones
        .irp    bank, 0, 1, 2
        .irp    shift, 0, 1, 2
        copy    load_\bank\()_\shift
        .endr
        .endr
        dma.wait zero
        li      a0, 8                   # island 0
        la      a1, blocks
        core.start a0, a1
        copy    store
        dma.wait zero                   # the copy waits for the end of the block
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_k:    .word   ISLAND + ROW + 32 * KERNEL, k, 18, 3, BANK, 18
load_ones: .word   ISLAND + ROW + 32 * ONES, ones, 32, 3, BANK, 0
        .irp    bank, 0, 1, 2
        .irp    shift, 0, 1, 2
load_\bank\()_\shift: .word   ISLAND + \bank * BANK + 32 * ROWS * \shift, x + 2 * \shift, 32, ROWS, 32, 2 * WIDTH
        .endr
        .endr
store:  .word   y, ISLAND + ROW + 32 * Y, 32 * OUT, 3, 32 * OUT, BANK
        .balign 64
x:      .npy    "x.npy"
k:      .npy    "k.npy"
        .balign 4
ones:   .rept   16
        .half   0x3c00                  # 1.0
        .endr

        .core   fim, island=0
blocks: .block  banks=0-2
          mmr   b0_low, BUFFER
          mmr   b0_high, BUFFER + 9 * 3 * 32
          # Numbers of the kernel times ones: slice n of Rz has number n in all lanes. They wait in a
          # buffer, number 0 of each bank, then number 1, and so on.
          act   1
          mmr   op, mul
          mmr   arrange, outer
          rop <- iosa[KERNEL]
          rz <- rop * iosa[ONES]
          mmr   rz_step, 1
        .rept   9
          push  rz
        .endr
          # Slice r of Rz sums row r of the result.
          mmr   arrange, elementwise
          act   0
        .irp    i, 0, 1, 2
        .irp    j, 0, 1, 2
          pull  rop
          mmr   rz_slot, 0
          rz <- rop * iosa[ROWS * \j + \i : ROWS * \j + \i + OUT]
          mmr   accumulate, 1
        .endr
        .endr
          mmr   rz_slot, 0
          act   1
          iosa[Y : Y + OUT] <- rz
        end
