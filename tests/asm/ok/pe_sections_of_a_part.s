# A row's part may write to the common sections.
        .core   pe
        .byte   1
        .section .rodata
        .byte   2
        .section .data
        .byte   3
        .section .pe.0
        .byte   4
        .text
        .byte   5
#! bytes .pe.0 01 04 05
#! bytes .rodata 02
#! bytes .data 03
