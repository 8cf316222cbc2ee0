        .data
        .macro m x; .byte \x; .endm; m 1; m 2
        .rept 2; .byte 3; .endr; .byte 4
        .if 0; .byte 5; .else; .byte 6; .endif; m 7
