# The lines of a repetition are the same ones each time: one error.
        .core cp
        .rept 3
        addi a0, a0, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047
        .endr
        .irp x, 1, 5000
        addi a0, a0, \x                   #! error 22-24: imm: 5000 is out of range, -2048 to 2047
        .endr
