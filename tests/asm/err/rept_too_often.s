# Repetitions that would not end; what follows them is read.
        .core cp
        .rept 4000000000                  #! error 9-25: 4000000000 times a line is too much | all expansions of a run together have at most 1000000 lines
        nop
        .endr
        .rept 0x7fffffffffffffff          #! error 9-33: 9223372036854775807 times 2 lines is too much | all expansions of a run together have at most 1000000 lines
        nop
        addi a0, a0, 1
        .endr
        addi a0, a0, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047
