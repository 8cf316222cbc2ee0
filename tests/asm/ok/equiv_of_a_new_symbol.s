# .equiv is .equ for a symbol that must be new.
        .equiv  N, 3
        .equiv  M, N + 1
        .byte   N, M
#! bytes .data 03 04
