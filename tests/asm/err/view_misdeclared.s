# .view wants a name, a type, dimensions, and a place that is known.
        .core   pe, row=0
a:      .space  8
        .view   v                         #! error 9-18: .view takes other operands | write .view NAME, dtype, dimension, ..., at=ADDRESS
        .view   v, int8, 4                #! error 9-27: .view takes other operands | write .view NAME, dtype, dimension, ..., at=ADDRESS
        .view   w, int8, at=a             #! error 9-30: .view takes other operands | write .view NAME, dtype, dimension, ..., at=ADDRESS
        .view   x, byte, 4, at=a          #! error 20-24: 'byte' is no element type | there are int8, uint8, int16, uint16, int32, uint32, int64, float16, float32, float64, bfloat16
        .view   y, int8, 4, at=7          #! error 32-33: the place of a view must be known here | name a label of an earlier line, or a distance from it
        .view   z, int8, 4, at=b          #! error 32-33: the place of a view must be known here | name a label of an earlier line, or a distance from it
        .view   a, int8, 4, at=a          #! error 17-18: 'a' is defined twice | the first is at tests/asm/err/view_misdeclared.s:3
        .view   u, int8, 4, to=a          #! error 29-31: .view has no operand 'to' | there are at
        .view   7, int8, 4, at=a          #! error 9-33: .view takes other operands | write .view NAME, dtype, dimension, ..., at=ADDRESS
b:      .space  8
