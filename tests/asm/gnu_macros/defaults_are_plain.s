# A default is text; what looks like a parameter in it stays.
        .data
        .macro some a=1, b=\a
        .ifc \b,\\a
        .byte 1
        .endif
        .ifc "\b","7"
        .byte 2
        .endif
        .endm
        some b=7
