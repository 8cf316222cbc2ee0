# A second statement wants a semicolon.
        .core   cp
        nop nop                           #! error 9-16: nop does not take 1 operand | write nop
        add     a0, a1, a2 sub a0, a1, a2  #! error 27-28: expected ',' before 'sub'
