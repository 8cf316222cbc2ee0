# Distances in a section are known.
        .data
a:      .word 1, 2
b:      .if b - a == 8
        .byte 1
        .else
        .byte 2
        .endif
        .if . - a > 8
        .byte 3
        .endif
        .if . == b
        .byte 4
        .endif
        .if a < b
        .byte 5
        .endif
