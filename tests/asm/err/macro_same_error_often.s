# Of many expansions with the same error five are shown; those that differ in values alone are one.
        .core cp
        .macro bad r
        addi \r, \r, 4096                 #! error 22-26: imm: 4096 is out of range, -2048 to 2047 | the same in 4 more expansions
        .endm
        bad a0
        bad a1
        bad a2
        .irp r, a0, a1, a2
        bad \r
        .endr
        bad a3
        bad a4
        bad a5
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
#! error 4:22-26: imm: 4096 is out of range, -2048 to 2047
