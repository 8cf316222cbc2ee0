        .data
        .irp v, 0, 1, 2, 3
        .if \v == 0
        .byte 10
        .elseif \v == 1
        .byte 11
        .elseif \v == 2
        .byte 12
        .else
        .byte 13
        .endif
        .endr
        .if 1
        .byte 1
        .elseif nonsense
        .byte 2
        .elseif 1
        .byte 3
        .else
        .byte 4
        .endif
