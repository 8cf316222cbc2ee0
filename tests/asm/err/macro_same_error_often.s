# Of many expansions with the same error five are shown.
        .core cp
        .macro bad r
        addi \r, \r, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047 | the same in 3 more expansions
        .endm
        .irp r, a0, a1, a2, a3, a4, a5, s0, s1
        bad \r
        .endr
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
