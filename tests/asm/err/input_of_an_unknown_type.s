# Ten types.
        .input  x, int4, 4                #! error 20-24: 'int4' is no element type | did you mean 'int64'?
        .input  y, float, 4               #! error 20-25: 'float' is no element type | did you mean 'float64'?
