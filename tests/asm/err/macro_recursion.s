# A macro without end; what follows it is read.
        .core cp
        .macro more
        nop
        more                              #! error 9-13: more than 100 expansions in each other
        .endm
        more
        addi a0, a0, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047
