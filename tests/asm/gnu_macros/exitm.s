        .data
        .macro m x
        .byte 1
        .if \x
        .exitm
        .endif
        .byte 2
        .endm
        m 0
        m 1
        .byte 3
