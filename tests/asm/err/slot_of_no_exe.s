# A tensor has a place in a row where an exe names it.
        .device tiny
        .input  x, int8, 4
        .core   pe
        .byte   1
        .data
        .word   slot(x, 0)                #! error 17-27: 'x' has no slot in row 0 | a tensor has one where an exe names it
        .word   slot(x, 1)                #! error 17-27: 'x' has no slot in row 1 | a tensor has one where an exe names it
