# Dimensions must be known at once.
        .input  x, int8, N                #! error 26-27: the value must be known here: 'N' is not defined before
        .equ    N, 4
