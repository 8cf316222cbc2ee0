# Whole numbers only.
        .word   1.0                       #! error 17-20: a whole number is needed here
        .byte   1e2                       #! error 17-20: a whole number is needed here
