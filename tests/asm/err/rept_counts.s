# Counts that are none.
        .core cp
        .rept -1                          #! error 15-17: -1 repetitions: the count is negative
        nop
        .endr
        .rept later                       #! error 15-20: the value must be known here: 'later' is not defined before
        nop
        .endr
        .rept                             #! error 9-14: .rept takes other operands | write .rept COUNT
        nop
        .endr
        .rept 1, 2                        #! error 9-19: .rept takes other operands | write .rept COUNT
        nop
        .endr
        .rept 2 )                         #! error 17-18: unexpected ')', expected ',' or the end of the line
        nop
        .endr
        .rept "two"                       #! error 15-20: a number is needed here, not a string
        nop
        .endr
        .set later, 4
        .rept later - 5                   #! error 15-24: -1 repetitions: the count is negative
        .endr
