# Registers are zero to t6, x0 to x31, gr0 to gr31.
        .core   cp
        add     a0, a1, a8                #! error 25-27: undefined symbol 'a8' | the registers are a0 to a7
        add     x32, x1, x2               #! error 17-20: 'x32' is no register | the registers are x0 to x31
        sub     gr32, gr1, gr2            #! error 17-21: 'gr32' is no register | the registers are gr0 to gr31
        mv      a0, sq                    #! error 21-23: 'sq' is no register | a register, zero to t6
