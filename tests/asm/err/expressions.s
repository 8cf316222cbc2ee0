# Mistakes inside of expressions.
        .word   1 / 0                     #! error 17-22: division by zero
        .word   5 % (3 - 3)               #! error 17-28: division by zero
        .word   1 << 64                   #! warning 17-24: shift by 64 is out of range, 0 to 63; the result is 0
        .word   %hii(5)                   #! error 17-21: unknown operator '%hii' | did you mean '%hi'?
        .word   %foo(5)                   #! error 17-21: unknown operator '%foo' | there are %hi %lo %pcrel_hi %pcrel_lo
        .word   sizeof(1 + 2)             #! error 24-29: sizeof takes a symbol, or a part of one
        .word   sizeof(a, b)              #! error 17-29: sizeof is written sizeof(symbol)
        .word   slot(a)                   #! error 17-24: slot is written slot(tensor, row)
        .word   %lo(1, 2)                 #! error 17-26: %lo is written %lo(value)
        .word   load_address(5)           #! error 30-31: no section holds the address 0x5
        .word   (1, 2)                    #! error 17-23: an expression is needed here
        .word   a b                       #! error 17-20: an expression is needed here
