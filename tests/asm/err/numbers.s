# Numbers that are none.
        .word   0x, 0b12, 08              #! error 17-19: '0x' is no number
        .word   08                        #! error 17-19: '08' is no octal number | a leading 0 means octal
        .word   12monkeys                 #! error 17-26: '12monkeys' is no number
        .word   0b                        #! error 17-19: there is no local label '0:' before this line
        .word   18446744073709551616      #! error 17-37: the number does not fit 64 bits
        .word   99999999999999999999999999999999999999999999  #! error 17-61: the number does not fit 64 bits
        .word   1.5                       #! error 17-20: a whole number is needed here
        .byte   0b12                      #! error 17-21: '0b12' is no number
        .byte   1_000                     #! error 17-22: '1_000' is no number
        .word   1e3                       #! error 17-20: a whole number is needed here
