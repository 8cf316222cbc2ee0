# Distances in a section are known.
a:      .word 1
        .if . - a == 4
        .byte 1
        .endif
        .if . > a
        .byte 2
        .endif
#! bytes .data 0100 00000102
