        .data
        .irp x, 1, 2, 3
        .byte \x
        .endr
        .irp x 4 5
        .byte \x
        .endr
        .irp x, a, b c, "d e" f
        .ascii "[\x]"
        .endr
        .irp x, 1 + 2, (3 , 4)
        .ascii "[\x]"
        .endr
