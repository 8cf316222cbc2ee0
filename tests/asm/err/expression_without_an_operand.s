# An operator wants something behind it.
        .word   1 +                       #! error 20-21: the line ends where an operand should be
        .word   * 2                       #! error 17-18: unexpected '*', expected an operand
        .word   (1                        #! error 19-20: the line ends where ')' should be
        .word   1)                        #! error 18-19: unexpected ')', expected ',' or the end of the line
