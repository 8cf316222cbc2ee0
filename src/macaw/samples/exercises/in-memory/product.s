# product.s - relu(a * b + c) of 128 numbers inside of the memory, all of them in bank 0.
#
# A column has sixteen numbers: a is columns 0 to 7 of row 0, b 8 to 15, c 16 to 23, y 24 to 31.
        .device tiny
        .equ    COLUMNS, 8              # of each tensor, in a bank
        .equ    BANK, 0x40000000        # address of bank 0 of island 0; bank n is n * BANK_BYTES later
        .equ    BANK_BYTES, 64 * 1024
        .equ    BANKS, 1
        .equ    PART, COLUMNS * 32      # bytes of a tensor in a bank
        .input  a, float16, 128
        .input  b, float16, 128
        .input  c, float16, 128
        .output y, float16, 128

        .core   cp                      # copies the tensors into the banks, and y out of them
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
        dma.wait zero
        li      a0, 0
        li      a7, 93
        ecall

        .data
        .balign 4
# to, from, bytes of a piece, pieces, from piece to piece at the destination, at the source
load_a: .word   BANK, a, PART, BANKS, BANK_BYTES, PART
load_b: .word   BANK + PART, b, PART, BANKS, BANK_BYTES, PART
load_c: .word   BANK + 2 * PART, c, PART, BANKS, BANK_BYTES, PART
store:  .word   y, BANK + 3 * PART, PART, BANKS, PART, BANK_BYTES

        .core   fim, island=0
blocks: .block  banks=0
          act   0
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
          mmr   op, mul
          rop <- iosa[\n]
          rz <- rop * iosa[COLUMNS + \n]
          rop <- rz
          mmr   op, add
          rz <- rop + iosa[2 * COLUMNS + \n]
          rop <- rz
          mmr   op, relu
          rz <- relu(rop)
          iosa[3 * COLUMNS + \n] <- rz
        .endr
        end
