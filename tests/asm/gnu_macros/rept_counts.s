        .data
        .set n, 0
        .rept 5
        .byte n, n * n
        .set n, n + 1
        .endr
