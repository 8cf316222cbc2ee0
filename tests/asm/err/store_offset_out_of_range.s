# 12 bits with a sign.
        .core   cp
        sw      a0, 2048(sp)              #! error 21-25: imm: 2048 is out of range, -2048 to 2047
        sb      a0, -2049(sp)             #! error 21-26: imm: -2049 is out of range, -2048 to 2047
