# 0 to 31.
        .core   cp
        slli    a0, a1, 32                #! error 25-27: shamt: 32 is out of range, 0 to 31
        srai    a0, a1, -1                #! error 25-27: shamt: -1 is out of range, 0 to 31
