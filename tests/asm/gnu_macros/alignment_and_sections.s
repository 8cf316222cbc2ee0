        .macro both x
        .text
        addi a0, a0, \x
        .data
        .byte \x
        .endm
        both 1
        .rept 2
        both 2
        .endr
        .balign 4
        .byte 9
