# .align and .p2align take a power of two.
        .byte   1
        .align  2
        .byte   2
        .p2align 3
        .byte   3
        .align  0
        .byte   4
#! bytes .data 0100 00000200 00000304
