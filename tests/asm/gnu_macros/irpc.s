        .data
        .irpc c, abc
        .ascii "[\c]"
        .endr
        .irpc c, 123
        .byte \c
        .endr
        .irpc c "xy"
        .ascii "[\c]"
        .endr
        .irpc d, 01
        .irpc e, 01
        .byte 0b\d\e
        .endr
        .endr
