        .data
        .macro spell text
        .irpc c, \text
        .ifc \c,x
        .byte 0
        .else
        .ascii "\c"
        .endif
        .endr
        .endm
        spell axb
