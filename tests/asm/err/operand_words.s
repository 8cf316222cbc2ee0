# Words that are no register, choice or flag.
        .core cp
        add     a0, a1, a9                #! error 25-27: undefined symbol 'a9' | the registers are a0 to a7
        add     a0, s12, q0               #! error 21-24: 's12' is no register | the registers are s0 to s11
        add     a0, 5, a1                 #! error 21-22: '5' is no register | a register, zero to t6
        addi    a0, a1, a2                #! error 25-27: undefined symbol 'a2' | it is a register; a number is needed here
        lw      a0, 4(4)                  #! error 23-24: '4' is no register | a register, zero to t6
        lw      a0, 4(spp)                #! error 23-26: 'spp' is no register | did you mean 'sp'?
        fence   rwq, rw                   #! error 17-20: pred: 'rwq' is not letters of iorw
        csrr    a0, cycel                 #! error 21-26: no CSR is called 'cycel' | did you mean 'cycle'?
        add     a0, a1 + 1, a2            #! error 21-27: rs1: an expression cannot be written here | a register, zero to t6
        sw      a0, 8(sp)(t0)             #! error 26-27: unexpected '(', expected ',' or the end of the line
        add     rd=a0, rs1=a1, rs3=a2     #! error 32-35: add has no operand 'rs3' | did you mean 'rs2'?
        add     rd=a0, rs1=a1, rd=a2      #! error 35-37: the operand rd is given twice
        add     rd=a0, rs1=a1             #! error 9-30: add needs the operand rs2 | write add rd, rs1, rs2
        add     4(a0), a1, a2             #! error 17-22: there are no brackets in this operand | write add rd, rs1, rs2
        lw      (a0), 4                   #! error 17-21: rd: an expression cannot be written here | a register, zero to t6
