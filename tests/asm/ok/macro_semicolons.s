# Macros, repetitions and conditionals on one line.
        .macro m x; .byte \x; .endm; m 1; m 2
        .rept 2; .byte 3; .endr; .if 0; .byte 4; .else; .byte 5; .endif
#! bytes .data 01 02030305
