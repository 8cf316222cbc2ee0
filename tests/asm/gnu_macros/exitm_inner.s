        .data
        .macro inner
        .byte 1
        .exitm
        .byte 2
        .endm
        .macro outer
        inner
        .byte 3
        .exitm
        .byte 4
        .endm
        outer
        .byte 5
