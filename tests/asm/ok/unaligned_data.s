# Data stand where they are put: nothing is aligned by itself.
        .byte   1
        .word   2
        .byte   3
        .half   4
#! bytes .data 01020000 00030400
