# Labels stand before calls, repetitions and conditionals.
        .data
        .macro m x
        .byte \x
        .endm
        .byte 0
a:      m 1
b: c:   .rept 2
        m 2
        .endr
1:      .if 1
        m 3
d:      .endif
        .byte . - a, . - b, . - c, . - d, . - 1b
