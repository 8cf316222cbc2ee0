# A number is no register.
        .core   cp
        sub     a0, a1, 3                 #! error 25-26: '3' is no register | a register, zero to t6
        mul     1, 2, 3                   #! error 17-18: '1' is no register | a register, zero to t6
