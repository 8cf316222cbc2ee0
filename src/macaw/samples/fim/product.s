# product.s - function in memory: relu(a * b), computed inside of the banks of a DRAM island
#
# A row of a bank has 32 columns of 32 bytes; a column holds 16 numbers of float16. A bank's circuit
# reads a column, computes with its 16 numbers at once, and writes a column. The numbers never
# leave the memory.

        .device tiny                    # island 0 has every function, `macaw device tiny` lists them
        .equ    COLUMNS, 4              # 64 numbers

# Tensors in the island lie in bank 0 from its row 0 on, one after the other: a is columns 0 to 3,
# b columns 4 to 7, y columns 8 to 11.
        .input  a, float16, COLUMNS * 16, at=island0
        .input  b, float16, COLUMNS * 16, at=island0
        .output y, float16, COLUMNS * 16, at=island0

        .core   fim, island=0           # from here on: the program of island 0
        .block  banks=0                 # these words are for the circuit of bank 0
          act   0                       # open row 0 of the bank
        .irp    n, 0, 1, 2, 3           # the lines up to .endr, with \n = 0, then 1, 2, 3
          mmr   op, mul                 # what the circuit computes next
          rop <- iosa[\n]               # a column of a becomes the operand
          rz <- rop * iosa[COLUMNS + \n]
          rop <- rz                     # the 16 products become the operand
          mmr   op, relu
          rz <- relu(rop)
          iosa[2 * COLUMNS + \n] <- rz
        .endr
        end                             # the block's last word
