# Hints name only what may be written at the place: no register for data, a function, a CSR.
        .core   cp
        .word   x                         #! error 17-18: undefined symbol 'x'
        .word   a9                        #! error 17-19: undefined symbol 'a9'
        .word   a0                        #! error 17-19: undefined symbol 'a0' | it is a register; a number is needed here
        .word   sizof(start)              #! error 17-22: unknown function 'sizof' | did you mean 'sizeof'?
        .word   start(start)              #! error 17-29: an expression is needed here
        csrr    a0, MHARTID               #! error 21-28: no CSR is called 'MHARTID' | did you mean 'mhartid'?
        jalr    4(T6)                     #! error 19-21: 'T6' is no register | did you mean 't6'?
        add     a0, a1, x32               #! error 25-28: undefined symbol 'x32' | the registers are x0 to x31
start:  nop
        .core   vc
        vsplat.d vr0, x32                 #! error 23-26: 'x32' is no even register of a pair | did you mean 'x2'?
