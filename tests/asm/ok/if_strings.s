# Strings by their bytes.
        .macro is x, y
        .ifeqs "\x", "\y"
        .byte 1
        .endif
        .ifnes "\x", "\y"
        .byte 2
        .endif
        .endm
        is a, "\x61"
        is a, b
#! bytes .data 0102
