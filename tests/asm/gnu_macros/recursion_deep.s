# 100 expansions in each other are allowed.
        .data
        .set n, 0
        .macro deep
        .set n, n + 1
        .if n < 100
        deep
        .endif
        .byte n
        .endm
        deep
