# An address has 32 bits, so that these targets do not wrap around to near ones.
        .core   cp
        jal     x0, 0x100010008           #! error 21-32: target: 4295032840 is no address of 32 bits
        beq     a0, a1, 0x100010000       #! error 25-36: target: 4295032832 is no address of 32 bits
        jal     x0, -0x80000001           #! error 21-32: target: -2147483649 is no address of 32 bits
