# Whether an argument is given.
        .macro m x
        .ifb \x
        .byte 1
        .endif
        .ifnb \x
        .byte 2
        .endif
        .endm
        m
        m x
        m ""
#! bytes .data 010201
