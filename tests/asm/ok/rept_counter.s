# A symbol that is set again in each round.
        .set n, 0
        .rept 5
        .byte n * n
        .set n, n + 1
        .endr
#! bytes .data 00 01040910
