# Operands that are none, in every place where one is expected.
        .core cp
        add     a0,                       #! error 20-21: the line ends where an operand should be
        add     a0, a1 a2 +               #! error 27-28: unexpected '+', expected ',' or the end of the line
        add     a0, a1, (a2               #! error 28-29: the line ends where ')' should be
        add     a0 5                      #! error 19-20: expected ',' before '5'
        addi    a0, a1, 5)                #! error 26-27: unexpected ')', expected ',' or the end of the line
        .word   1, , 2                    #! error 20-21: unexpected ',', expected an operand
        .word   1 +                       #! error 20-21: the line ends where an operand should be
        .word   %hi 5                     #! error 17-18: unexpected '%', expected an operand | write the value in brackets, as in %hi(value)
        .word   x[1                       #! error 20-21: the line ends where ']' should be
        li      a0, )                     #! error 21-22: unexpected ')', expected an operand
