        .data
        .macro a x
        .byte \x
        .endm
        .macro b x
        a \x
        a \x + 1
        .endm
        .macro c x
        b \x
        b "\x + 10"
        .endm
        c 5
