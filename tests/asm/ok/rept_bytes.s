# Lines again and again, or never.
        .rept 3
        .byte 1, 2
        .endr
        .rept 0
        .error "never"
        .endr
#! bytes .data 0102 01020102
