        .data
        .macro m x
        .rept \x
        .irp y, 1, 2
        .byte \y + \x
        .endr
        .endr
        .endm
        .rept 2
        m 2
        .endr
