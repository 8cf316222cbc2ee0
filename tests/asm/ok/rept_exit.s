# .exitm leaves a repetition before its count is reached.
        .set n, 0
        .rept 1000
        .if n == 3
        .exitm
        .endif
        .byte n
        .set n, n + 1
        .endr
#! bytes .data 000102
