# Tensors that cannot be.
        .input  a                         #! error 9-18: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .input  b, int8                   #! error 9-24: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .input  c, in8, 4                 #! error 20-23: 'in8' is no element type | did you mean 'int8'?
        .input  d, complex64, 4           #! error 20-29: 'complex64' is no element type | there are int8, uint8, int16, uint16, int32, uint32, int64, float16, float32, float64, bfloat16
        .input  e, int8, 0                #! error 26-27: dimension: 0 is out of range, 1 to 2147483647
        .input  f, int8, -3               #! error 26-28: dimension: -3 is out of range, 1 to 2147483647
        .input  g, int8, 4, at=nowhere      #! error 32-39: the device has no memory 'nowhere' for tensors | there are netin, message, netout, island0, island1, ..., island3, unit0, unit1, ..., unit3
        .input  h, int8, 4, on=netin      #! error 29-31: .input has no operand 'on' | there are at
        .input  5, int8, 4                #! error 9-27: .input takes other operands | write .input NAME, dtype, dimension, ... [, at=PLACE]
        .output i, 8, 4                   #! error 20-21: an element type is needed here
        .output j, int8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1  #! error 122-123: a tensor has at most 32 dimensions
        .output k, int8, 1000000, 1000000  #! error 9-42: .tensors grows to 1000000000064 bytes, external memory has 268435456
        .word   a, b, c, d, e, f, g, h, i, j, k  # spoiled: no errors of their own
