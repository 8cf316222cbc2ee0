# Alignment in code and in data.
        nop
        .byte   1
        .align  3
        nop
        .byte   1, 2
        .balign 8
        nop
        .byte   1
        .balign 16, 0xaa
        nop
        .p2align 4
        nop
        .half   7
        .balign 4
        .data
        .byte   1
        .align  2
        .byte   2
        .balign 8, 0xff
        .byte   3
        .p2align 3
        .byte   4
        .balign 16, 0, 4
        .byte   5
        .balign 16, 0, 15
        .byte   6
        .align  0
        .byte   7
        .text
        .balign 16              # GNU as pads the end of a section to its alignment, we do not
