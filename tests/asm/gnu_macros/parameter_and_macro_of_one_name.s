        .data
        .macro m m
        .byte \m
        .endm
        m 65
        m = 5
        .byte m
