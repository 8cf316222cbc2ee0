# Macros use macros.
        .macro one x
        .byte \x
        .endm
        .macro two x
        one \x
        one \x + 1
        .endm
        .macro four x
        two \x
        two "\x + 2"
        .endm
        four 5
#! bytes .data 05060708
