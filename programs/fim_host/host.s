# y = max(A x, 0) without a program of the island: cp sends the circuits of four banks the numbers of
# operations, one DRAM command after the other (seed 004 ¶46). A (64 x 16) lies 16 rows to a bank,
# columns 16 to 31 of row 0; x is column 0 of each bank, the bank's 16 numbers of y go to column 1.
        .device tiny
        .output y, float16, 64
        .set    BANK, 0x40000000
        .set    BANKS, 15               # a mask: all four in lock-step
        .set    REGISTERS, 0x20008180   # of the circuits of island 0 (core 8), as cp sees them
        .set    OP, 0
        .set    ARRANGE, 4
        .set    SLOT, 20
        .set    MUL, 2                  # functions and arrangements, by their numbers
        .set    RELU, 8
        .set    ELEMENTWISE, 0
        .set    DOT, 1

        .core   cp
        .macro  copy what
        la      a0, \what
        dma.copy zero, a0
        .endm

_start: copy    load_a
        .irp    bank, 0, 1, 2, 3
        copy    load_x\bank
        .endr
        dma.wait zero
        li      s0, REGISTERS
        li      s1, BANK
        li      s2, BANKS

        li      t0, MUL
        sw      t0, OP(s0)
        li      t0, DOT
        sw      t0, ARRANGE(s0)
        fim.send 2, s1, s2              # rop <- iosa[0]
        addi    t1, s1, 16 * 32         # columns 16 to 31
        addi    t2, t1, 16 * 32
dots:   fim.send 6, t1, s2              # rz <- rop * iosa[column]: the next slot
        addi    t1, t1, 32
        bne     t1, t2, dots

        li      t0, RELU
        sw      t0, OP(s0)
        li      t0, ELEMENTWISE
        sw      t0, ARRANGE(s0)
        fim.send 9, s1, s2              # rop <- rz
        fim.send 7, s1, s2              # rz <- relu(rop)
        addi    t1, s1, 32
        fim.send 4, t1, s2              # iosa[1] <- rz

        copy    store
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# destination, source, bytes of a row, rows, strides
load_a: .word   BANK + 512, a, 512, 4, 64 * 1024, 512
        .irp    bank, 0, 1, 2, 3
load_x\bank: .word   BANK + \bank * 64 * 1024, x, 32, 1, 0, 0
        .endr
store:  .word   y, BANK + 32, 32, 4, 32, 64 * 1024
        .balign 64
a:      .npy    "a.npy"
x:      .npy    "x.npy"
