        .data
        .macro a
        .byte 65
        .endm
        a
        .purgem a
        .macro a
        .byte 66
        .endm
        a
        .macro b
        .byte 67
        .purgem b
        .endm
        b
        .macro b
        .byte 68
        .endm
        b
        .purgem a, b
        .macro a
        .byte 69
        .endm
        a
