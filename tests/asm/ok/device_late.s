# The device may be said behind what does not depend on it.
        .input  x, int8, 4
        .byte   1
        .device tiny
        .core   cp
        .byte   1
        nop             #! warning 9-12: the instruction does not lie on a multiple of 4
        .align  2
        .core   pe, row=1
        .byte   2
#! bytes .pe.1 02
