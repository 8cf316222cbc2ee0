        .data
        .rept 3
        .byte 1, 2
        .endr
        .rept 0
        .byte 3
        .endr
        .rept 1 + 1
        .byte 4
        .endr
        n = 2
        .rept n * n
        .byte 5
        .endr
