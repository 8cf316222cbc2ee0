# A macro's name can be a symbol's, too.
        .macro n x
        .byte \x
        .endm
n = 5
        n 1
        .byte n
        .set n, 6
        .byte n
s:      n 2
#! bytes .data 01050602
