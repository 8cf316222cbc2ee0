# Name, type, dimensions.
        .input                            #! error 9-15: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .input  x                         #! error 9-18: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .input  y, int8                   #! error 9-24: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .input  5, int8, 4                #! error 9-27: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
