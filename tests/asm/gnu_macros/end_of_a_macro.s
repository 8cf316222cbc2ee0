# What stands behind .endm is no matter, .endr and .endif in a macro are its own.
        .data
        .macro m x
        .rept \x
        .if 1
        .byte \x
        .endif
        .endr
        .endm m
        m 2
