# Nothing stands between two commas.
        .core   cp
        add     a0,, a1                   #! error 20-21: unexpected ',', expected an operand
        .byte   1, , 2                    #! error 20-21: unexpected ',', expected an operand
        .byte   1,                        #! error 19-20: the line ends where an operand should be
