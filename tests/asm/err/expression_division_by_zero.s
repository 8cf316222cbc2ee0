# Also if it is found out late.
        .word   1 / 0                     #! error 17-22: division by zero
        .word   1 % ZERO                  #! error 17-25: division by zero
        .equ    ZERO, 0
