# One less than the least, one more than the most.
        .core   cp
        addi    a0, a0, -2049             #! error 25-30: imm: -2049 is out of range, -2048 to 2047
        addi    a0, a0, 2048              #! error 25-29: imm: 2048 is out of range, -2048 to 2047
        lui     a0, -1                    #! error 21-23: imm: -1 is out of range, 0 to 1048575
        lui     a0, 0x100000              #! error 21-29: imm: 1048576 is out of range, 0 to 1048575
