# Only cores of which there are several take a number.
        .core   cp, row=0                 #! error 21-24: .core has no operand 'row' | it takes none by name
        .core   pe, rwo=0                 #! error 21-24: .core has no operand 'rwo' | did you mean 'row'?
        .core   pe, row=0, row=1          #! error 28-33: the operand row is given twice
