# What does not begin as a statement does.
        .core cp
        = 5                               #! error 9-10: unexpected '=', expected a label, a mnemonic or a directive
        5                                 #! error 10-11: the line ends where ':' should be
        "text"                            #! error 15-16: the line ends where ':' or '=' should be
        @                                 #! error 9-10: unexpected character '@' | write words without '@', as in '.type f, function'
        a: b: 3                           #! error 16-17: the line ends where ':' should be
        x =                               #! error 12-13: the line ends where an operand should be
        nop ? nop                         #! error 13-14: unexpected character '?'
        sizeof(3                          #! error 17-18: the line ends where ')' should be
        [1]                               #! error 9-10: unexpected '[', expected a label, a mnemonic or a directive
