# li takes what 32 bits hold, signed or not.
        .core   cp
        li      a0, 0x100000000           #! error 21-32: number: 4294967296 is out of range, -2147483648 to 4294967295
        li      a0, -0x80000001           #! error 21-32: number: -2147483649 is out of range, -2147483648 to 4294967295
