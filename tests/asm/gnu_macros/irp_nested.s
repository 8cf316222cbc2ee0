        .data
        .irp x, 1, 2
        .irp y, 3, 4
        .ascii "\x\y "
        .endr
        .endr
        .irp x, 1, 2
        .macro m\x y
        .byte \x, \y
        .endm
        .endr
        m1 5
        m2 6
