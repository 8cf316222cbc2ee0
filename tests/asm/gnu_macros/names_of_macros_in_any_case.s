        .data
        .macro Twice x
        .byte \x, \x
        .endm
        twice 1
        TWICE 2
        Twice x=3
