# A macro that is forgotten may be defined again.
        .macro a
        .byte 1
        .endm
        a
        .purgem a
        .macro a
        .byte 2
        .endm
        a
#! bytes .data 0102
