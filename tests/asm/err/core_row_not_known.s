# The row must be known at once.
        .core   pe, row=LATER             #! error 25-30: the value must be known here: 'LATER' is not defined before
        .equ    LATER, 1
