# Four there are.
        .core   cp
        lui     a0, %high(5)              #! error 21-26: unknown operator '%high' | did you mean '%hi'?
        addi    a0, a0, %low(5)           #! error 25-29: unknown operator '%low' | did you mean '%lo'?
