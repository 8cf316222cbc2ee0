# .exitm leaves a macro, conditionals and all.
        .macro upto n, limit
        .byte \n
        .if \n >= \limit
        .exitm
        .endif
        upto "(\n + 1)", \limit
        .endm
        upto 0, 3
#! bytes .data 00010203
