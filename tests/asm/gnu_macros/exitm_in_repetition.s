        .data
        .macro m
        .rept 3
        .byte 1
        .exitm
        .byte 2
        .endr
        .byte 3
        .endm
        m
        .irp x, 1, 2, 3
        .byte \x
        .if \x == 2
        .exitm
        .endif
        .endr
