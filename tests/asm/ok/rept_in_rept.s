# Repetitions in each other.
        .rept 2
        .byte 1
        .rept 2
        .byte 2
        .endr
        .endr
#! bytes .data 0102 02010202
