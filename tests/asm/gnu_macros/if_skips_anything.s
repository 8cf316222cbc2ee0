        .data
        .if 0
        nonsense !
        .if more nonsense
        .else
        .endif
        .macro m
        .endm
        .rept
        .endr
        .include "nothing.s"
        .error "never"
        .endif
        .byte 1
