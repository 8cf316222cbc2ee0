        .data
        .rept 2
        .byte 1
        .rept 3
        .byte 2
        .endr
        .irp x, 3, 4
        .byte \x
        .endr
        .endr
