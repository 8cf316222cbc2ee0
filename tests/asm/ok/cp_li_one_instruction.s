# Numbers of 12 bits, and those whose lower 12 bits are zero, take one instruction.
        .core   cp
        li      a0, 0
        li      a0, 2047
        li      a0, -2048
        li      a0, 0x1000
        li      a0, 0xfffff000
#! bytes .text.cp 13050000 1305f07f 13050080 37150000
#! bytes .text.cp 37f5ffff
