# A register is no number.
        .core   cp
        addi    a0, a1, t0                #! error 25-27: undefined symbol 't0' | it is a register; a number is needed here
        slli    a0, a1, x3                #! error 25-27: undefined symbol 'x3' | it is a register; a number is needed here
