# Without row= it is row 0.
        .core   pe
        .byte   1
        .core   pe, row=0
        .byte   2
#! bytes .pe.0 01 02
