# Seven different mistakes: seven diagnostics, each on its line, and no other.
        .device tiny
        .core   cp
_start: la      a0, data
        add     a0, a1                    #! error 9-23: add does not take 2 operands | write add rd, rs1, rs2 or add rd, rs, imm
        addi    a0, a0, 5000              #! error 25-29: imm: 5000 is out of range, -2048 to 2047
        j       strat                     #! error 17-22: undefined symbol 'strat' | did you mean '_start'?
        frob    a0, a1                    #! error 9-13: cp has no instruction 'frob' | 'macaw isa cp' lists what it has
        .word   1 / 0                     #! error 17-22: division by zero
data:   .word   (1 + 2                    #! error 23-24: the line ends where ')' should be
        lw      a1, 0(a0)
_start: ret                               #! error 1-7: '_start' is defined twice | the first is at tests/asm/err/seven_mistakes.s:4
        li      a7, 93
        ecall
