        .data
        .macro m x
        .ifb \x
        .byte 1
        .endif
        .ifnb \x
        .byte 2
        .endif
        .endm
        m
        m 1
        m ""
        m " "
        m ,
        .ifb # comment
        .byte 3
        .endif
        .ifb ""
        .byte 4
        .endif
