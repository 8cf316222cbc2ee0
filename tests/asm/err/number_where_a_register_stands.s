# A number is no register.
        .core   cp
        sub     a0, a1, 3                 #! error 25-26: '3' is no register | did you mean 'x3'?
        mul     1, 2, 3                   #! error 17-18: '1' is no register | did you mean 'x1'?
