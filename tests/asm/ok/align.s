# Alignment of data and of instructions, as GNU as fills.
        .byte   1
        .align  2
        .byte   2
        .balign 4, 0xee
        .byte   3
        .p2align 1
        .byte   4
        .balign 16, 0, 2
        .balign 1
        .balign 0
        .core   cp
        nop
        .byte   1
        .align  3
        nop
        .half   2
        .balign 8, 0xaa
#! bytes .data 01000000 02eeeeee 0300 04
#! bytes .text.cp 13000000 01 00 0100 13000000 0200 aaaa
