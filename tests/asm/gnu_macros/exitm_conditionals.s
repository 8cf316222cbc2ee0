        .data
        .macro m x
        .if 1
        .if \x
        .byte 1
        .exitm
        .else
        .byte 2
        .endif
        .endif
        .byte 3
        .endm
        m 1
        m 0
        .if 1
        m 1
        .byte 4
        .else
        .byte 5
        .endif
